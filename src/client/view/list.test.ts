import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { List } from "./list.ts";
import { Table } from "./table.ts";

/** What may be done to one of the versions there are. */
const deeds = fc.array(
  fc.record({ deed: fc.constantFrom("push", "push", "push", "set", "take"), version: fc.nat(), at: fc.nat(), value: fc.nat() }),
  { maxLength: 600, size: "max" },
);

describe("List", () => {
  it("is an array that never changes", () => {
    fc.assert(
      fc.property(deeds, (done) => {
        const versions: { list: List<number>; array: number[] }[] = [{ list: List.empty(), array: [] }];
        for (const { deed, version, at, value } of done) {
          // Mostly the newest, sometimes a fork of an old one.
          const { list, array } = versions[version % 5 === 0 ? version % versions.length : versions.length - 1] as (typeof versions)[0];
          if (deed === "push") versions.push({ list: list.push(value), array: [...array, value] });
          else if (deed === "take") versions.push({ list: list.take(at % 300), array: array.slice(0, at % 300) });
          else if (array.length > 0) {
            const i = at % array.length;
            versions.push({ list: list.set(i, value), array: array.with(i, value) });
          }
        }
        for (const { list, array } of versions) {
          assert.deepEqual([...list], array);
          assert.deepEqual(list.toArray(), array);
          assert.equal(list.at(-1), array.at(-1));
        }
      }),
      { numRuns: 200 },
    );
  });

  it("keeps its nodes apart over their ends", () => {
    let list = List.of(Array.from({ length: 1000 }, (_, i) => i));
    const before = list;
    for (const i of [0, 31, 32, 127, 128, 999]) list = list.set(i, -i);
    assert.deepEqual([before.at(127), list.at(127), list.at(129), list.length], [127, -127, 129, 1000]);
    assert.equal(before.take(128).push(7).at(128), 7);
    assert.equal(before.at(128), 128);
    assert.throws(() => list.set(1000, 1), RangeError);
  });
});

describe("Table", () => {
  it("finds by name what is in this version, and nothing of a newer one", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30), fc.nat(), fc.nat()), { maxLength: 300, size: "max" }), (sets) => {
        const versions: { table: Table<number>; map: Map<string, number> }[] = [{ table: Table.empty(), map: new Map() }];
        for (const [name, value, version] of sets) {
          const { table, map } = versions[version % 3 === 0 ? version % versions.length : versions.length - 1] as (typeof versions)[0];
          versions.push({ table: table.set(`k${name}`, value), map: new Map(map).set(`k${name}`, value) });
        }
        for (const { table, map } of versions) {
          assert.deepEqual([...table], [...map.values()]);
          for (let name = 0; name <= 30; name += 1) assert.equal(table.get(`k${name}`), map.get(`k${name}`));
        }
      }),
      { numRuns: 100 },
    );
  });
});
