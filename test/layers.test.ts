import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, it } from "node:test";

/** Who may import whom. Reading this table is reading the architecture. */
const MAY_IMPORT: Record<string, string[]> = {
  core: [],
  store: ["core"],
  model: ["core"],
  agent: ["core", "model"],
  langgraph: ["core", "agent"],
  engine: ["core", "store", "model", "agent"],
  protocol: ["core"],
  server: ["core", "store", "engine", "protocol"],
  client: ["core"], // types only, and what is pure and small: it runs in a browser
  testing: ["core", "store", "model"],
  root: ["core", "store", "model", "agent", "engine", "server"],
  cli: ["core", "model", "agent", "server", "client", "root"], // the client: `handback worker` is one
};

/** Code the client shares with the server: the same patch must mean the same on both sides. */
const IN_BROWSERS = ["src/core/patch.ts", "src/core/title.ts"];

/** Packages from npm, and who may use them. Whoever is not listed stands on its own feet. */
const MAY_USE: Record<string, string[]> = {
  zod: ["agent", "protocol", "server", "cli"],
  hono: ["server"],
  "@hono/node-server": ["server"],
  jose: ["server"],
  ws: ["server"],
  "@ai-sdk/provider": ["model"],
  "@langchain/core": ["langgraph"], // optional peers: nobody else may load them
  "@langchain/langgraph": ["langgraph"],
};

describe("layers", () => {
  const files = globSync("src/**/*.ts").filter((file) => !file.endsWith(".test.ts") && !file.endsWith("conformance.ts"));
  assert.ok(files.length > 40, "found no sources to check");

  for (const file of files) {
    it(`${file} imports only what its layer may`, () => {
      const from = layer(file);
      for (const { specifier, typeOnly } of imports(file)) {
        if (!specifier.startsWith(".")) {
          checkPackage(from, specifier);
          continue;
        }
        const target = relative(".", join(dirname(file), specifier));
        const to = layer(target);
        if (from === to && from === "protocol") checkStrangers(file, target);
        if (from !== to) assert.ok(MAY_IMPORT[from]?.includes(to), `${from} must not import ${to} (${target})`);
        if (from === "client" && to !== "client")
          assert.ok(typeOnly || IN_BROWSERS.includes(target), `the client may import only types (${target})`);
      }
    });
  }
});

describe("the console", () => {
  const files = globSync("console/src/**/*.{ts,tsx}");
  assert.ok(files.length > 40, "found no sources to check");
  const outside = ["handback/client", "handback/client/sandbox", "handback/profiles"];
  const { devDependencies } = JSON.parse(readFileSync("console/package.json", "utf8"));

  for (const file of files) {
    it(`${file} knows Handback only as an outsider would`, () => {
      for (const { specifier } of imports(file)) {
        if (specifier.startsWith(".")) {
          assert.match(relative(".", join(dirname(file), specifier)), /^console\/src\//, specifier);
          continue;
        }
        const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
        assert.ok(outside.includes(specifier) || name in devDependencies, `${file} must not use ${specifier}`);
      }
    });
  }
});

/** Protocols are strangers to each other; what they share lies one floor up. */
function checkStrangers(file: string, target: string): void {
  const shared = dirname(target) === "src/protocol";
  assert.ok(shared || dirname(target) === dirname(file), `${file} must not know ${target}`);
}

function checkPackage(from: string, specifier: string): void {
  if (specifier.startsWith("node:")) {
    const pure = ["core", "protocol", "client", "agent"].includes(from);
    assert.ok(!pure, `${from} must not use Node (${specifier})`);
    return;
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  assert.ok(MAY_USE[name]?.includes(from), `${from} must not use ${name}`);
}

function imports(file: string): { specifier: string; typeOnly: boolean }[] {
  const source = readFileSync(file, "utf8").replace(/`(?:[^`\\]|\\.)*`/gs, "``"); // code in a text is nobody's import
  const found = source.matchAll(/^(?:import|export)\s(?<what>[^;]*?)from "(?<specifier>[^"]+)"|import\("(?<lazy>[^"]+)"\)/gms);
  return [...found].map(({ groups }) => ({
    specifier: groups?.["specifier"] ?? groups?.["lazy"] ?? "",
    typeOnly: groups?.["what"]?.startsWith("type ") ?? false,
  }));
}

function layer(path: string): string {
  const [, first = "", second] = path.split("/");
  return second === undefined ? "root" : first;
}
