/** A node of the tree holds so many others, or items: 2 to the power of this. */
const BITS = 5;
const MASK = (1 << BITS) - 1;

/** Items at level 0, nodes above. A node may be longer than one version of a list knows: a newer one has appended in place. */
type Node<T> = (Node<T> | T)[];

/**
 * An array that never changes: `push` and `set` give a new one that shares nearly everything with the old.
 * Appending to the newest version is as cheap as to an array; a change copies the few nodes above it. A class, because thousands
 * of them are made for a thread and their methods should be made once.
 */
export class List<T> implements Iterable<T> {
  readonly length: number;
  readonly #root: Node<T>;
  readonly #level: number;
  #array: readonly T[] | undefined;

  private constructor(root: Node<T>, level: number, length: number) {
    this.#root = root;
    this.#level = level;
    this.length = length;
  }

  static empty<T>(): List<T> {
    return new List<T>([], 0, 0);
  }

  static of<T>(items: Iterable<T>): List<T> {
    let list = List.empty<T>();
    for (const item of items) list = list.push(item);
    return list;
  }

  /** The item at an index; from the end where it is negative. */
  at(index: number): T | undefined {
    const i = index < 0 ? this.length + index : index;
    if (i < 0 || i >= this.length) return undefined;
    let node = this.#root;
    for (let level = this.#level; level > 0; level -= 1) node = node[(i >> (level * BITS)) & MASK] as Node<T>;
    return node[i & MASK] as T;
  }

  push(item: T): List<T> {
    const { length } = this;
    // The empty list is everybody's: what the first one appended in place would be kept for ever.
    if (length === 0) return new List<T>([item], 0, 1);
    const level = this.#level;
    if (length === 1 << ((level + 1) * BITS)) return new List([this.#root, chain(level, item)], level + 1, length + 1);
    return new List(pushed(this.#root, level, length, item), level, length + 1);
  }

  /** The same with another item at an index that is there. */
  set(index: number, item: T): List<T> {
    if (index < 0 || index >= this.length) throw new RangeError(`There is no item ${index} in a list of ${this.length}`);
    return new List(changed(this.#root, this.#level, index, item), this.#level, this.length);
  }

  /** The first so many items. */
  take(length: number): List<T> {
    return length >= this.length ? this : new List(this.#root, this.#level, Math.max(0, length));
  }

  /** As an array, made once for each version. */
  toArray(): readonly T[] {
    if (!this.#array) {
      const array = new Array<T>(this.length);
      for (let i = 0; i < this.length; i += 1) array[i] = this.at(i) as T;
      this.#array = array;
    }
    return this.#array;
  }

  map<U>(of: (item: T, index: number) => U): U[] {
    return this.toArray().map(of);
  }

  filter(is: (item: T, index: number) => boolean): T[] {
    return this.toArray().filter(is);
  }

  find(is: (item: T) => boolean): T | undefined {
    for (let i = 0; i < this.length; i += 1) if (is(this.at(i) as T)) return this.at(i);
    return undefined;
  }

  findLast(is: (item: T) => boolean): T | undefined {
    for (let i = this.length - 1; i >= 0; i -= 1) if (is(this.at(i) as T)) return this.at(i);
    return undefined;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let i = 0; i < this.length; i += 1) yield this.at(i) as T;
  }
}

/** Appends behind the first `length` items: in place where nobody has yet, otherwise on a copy. */
function pushed<T>(node: Node<T>, level: number, length: number, item: T): Node<T> {
  const slot = (length >> (level * BITS)) & MASK;
  const begun = level > 0 && (length & ((1 << (level * BITS)) - 1)) !== 0;
  const below = begun ? (node[slot] as Node<T>) : undefined;
  const next = below ? pushed(below, level - 1, length, item) : level > 0 ? chain(level - 1, item) : item;
  if (below && next === below) return node;
  const own = below === undefined && node.length === slot ? node : node.slice(0, slot);
  own.push(next);
  return own;
}

function chain<T>(level: number, item: T): Node<T> {
  return level === 0 ? [item] : [chain(level - 1, item)];
}

function changed<T>(node: Node<T>, level: number, index: number, item: T): Node<T> {
  const slot = (index >> (level * BITS)) & MASK;
  const own = node.slice();
  own[slot] = level === 0 ? item : changed(node[slot] as Node<T>, level - 1, index, item);
  return own;
}
