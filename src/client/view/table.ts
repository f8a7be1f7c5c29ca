import { List } from "./list.ts";

/** A `List` whose items have names. Like it, it never changes. */
export class Table<T> implements Iterable<T> {
  readonly #list: List<T>;
  /** Places by name, in order. Shared: names behind `length` belong to newer versions. */
  readonly #places: Map<string, number>;

  private constructor(list: List<T>, places: Map<string, number>) {
    this.#list = list;
    this.#places = places;
  }

  static empty<T>(): Table<T> {
    return new Table<T>(List.empty(), new Map());
  }

  get length(): number {
    return this.#list.length;
  }

  /** Where an item is; -1 where it is not. */
  indexOf(name: string): number {
    const place = this.#places.get(name) ?? -1;
    return place < this.length ? place : -1;
  }

  has(name: string): boolean {
    return this.indexOf(name) >= 0;
  }

  get(name: string): T | undefined {
    const place = this.indexOf(name);
    return place < 0 ? undefined : this.#list.at(place);
  }

  /** Puts an item in the place of the one of this name, or behind all others. */
  set(name: string, item: T): Table<T> {
    const place = this.indexOf(name);
    if (place >= 0) return new Table(this.#list.set(place, item), this.#places);
    // A name that only another version has gives this one a book of its own.
    const places = this.length > 0 && this.#places.size === this.length ? this.#places : this.#copy();
    places.set(name, this.length);
    return new Table(this.#list.push(item), places);
  }

  #copy(): Map<string, number> {
    const places = new Map<string, number>();
    for (const [name, place] of this.#places) {
      if (place >= this.length) break; // in order, so the rest is newer too
      places.set(name, place);
    }
    return places;
  }

  /** The first so many items. */
  take(length: number): Table<T> {
    return length >= this.length ? this : new Table(this.#list.take(length), this.#places);
  }

  at(index: number): T | undefined {
    return this.#list.at(index);
  }

  toArray(): readonly T[] {
    return this.#list.toArray();
  }

  map<U>(of: (item: T, index: number) => U): U[] {
    return this.#list.map(of);
  }

  filter(is: (item: T, index: number) => boolean): T[] {
    return this.#list.filter(is);
  }

  find(is: (item: T) => boolean): T | undefined {
    return this.#list.find(is);
  }

  findLast(is: (item: T) => boolean): T | undefined {
    return this.#list.findLast(is);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#list[Symbol.iterator]();
  }
}
