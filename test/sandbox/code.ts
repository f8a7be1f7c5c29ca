import type { Json } from "./site.ts";

const PRIMES =
  "(function sumPrimes(limit) { let sum = 0; for (let n = 2; n <= limit; n++) { let prime = true; for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false; if (prime) sum += n; } return sum; })(1000);";

/** Code, and what it is worth. */
export const VALUES: readonly (readonly [code: string, value: Json])[] = [
  [PRIMES, 76127],
  ["1 + 1", 2],
  ["let a = 2; a * 3;", 6],
  ["(() => { return [1, { a: null }]; })()", [1, { a: null }]],
  ["return 5", 5],
  ["const a = await Promise.resolve(4); return a + 1;", 5],
  ["await new Promise((resolve) => setTimeout(resolve, 20, 'late'));", "late"],
  ["new Promise((resolve) => setTimeout(resolve, 20, 'late'))", "late"],
  ["(async () => 7)() // done", 7],
  ['{ "a": 1, "b": 2 }', { a: 1, b: 2 }],
  ["'use strict'; 8", 8],
  ["let nothing = 1;", null],
  ["", null],
  ["null", null],
  ["'\\u2028</script><!--中'", "\u2028</script><!--中"],
  ["'return await'", "return await"],
  ["new Date(0)", "1970-01-01T00:00:00.000Z"],
  ["new Proxy({ a: 1 }, {})", { a: 1 }],
  ["({ get a() { return 1; } })", { a: 1 }],
  ["({ toJSON: () => 'mine' })", "mine"],
  ['JSON.parse(\'{"__proto__":{"x":1}}\').x === undefined', true],
  ["'x'.repeat(65534)", "x".repeat(65534)],
];

/** Code, and what is wrong with it. */
export const FAULTS: readonly (readonly [code: string, wrong: RegExp])[] = [
  ["let x = ;", /^SyntaxError: Unexpected token/],
  ["return 1 +", /^SyntaxError: /],
  ["JSON.parse('{')", /^SyntaxError: Expected property name/],
  ["throw new TypeError('no')", /^TypeError: no$/],
  ["Promise.reject(new RangeError('late'))", /^RangeError: late$/],
  ["throw 'words'", /^Error: words$/],
  ["throw null", /^Error: null$/],
  ["throw { name: 'x'.repeat(1e6), message: 'y'.repeat(1e6) }", /^x{100}: y{2000}$/],
  ["throw new Proxy({}, { get() { throw 1; } })", /cannot be told/],
  ["throw { toString() { throw 1; } }", /cannot be told/],
  ["missing", /^ReferenceError: missing is not defined$/],
  ["const a = []; a.push(a); a", /^ResultError: .*circular/],
  ["10n", /^ResultError: .*BigInt; make it a string/],
  ["[NaN]", /^ResultError: .*NaN/],
  ["() => 1", /^ResultError: .*a function/],
  ["({ a: Symbol('x') })", /^ResultError: .*a symbol/],
  ["new Map([[1, 2]])", /^ResultError: .*a Map/],
  ["new Error('returned')", /^ResultError: .*a Error/],
  ["({ toJSON() { throw new Error('not me'); } })", /^ResultError: .*not me/],
  ["({ get a() { throw new Error('not me'); } })", /^ResultError: .*not me/],
  ["'x'.repeat(65537)", /^ResultError: .*longer than 65536/],
  ["'x'.repeat(50e6)", /^ResultError: .*longer than 65536/],
  ["new Array(5e6).fill('0123456789')", /^ResultError: .*longer than 65536/],
  ["let s = 'x'; for (;;) s += s", /^RangeError: /],
  ["let a = 0; for (let i = 0; i < 60; i++) a = [a]; a", /^ResultError: .*deeper than 50/],
  ["let a = 0; for (let i = 0; i < 1e5; i++) a = [a]; a", /^ResultError: /],
  ["(function f() { f(); })()", /^RangeError: Maximum call stack/],
];
