import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { describe, it } from "node:test";
import { openApi } from "../src/server/openapi.ts";
import { anchorsOf, blocksOf, codeIn, documents, linksOf, read, section } from "./docs/markdown.ts";
import { shapesOf } from "./docs/type-fields.ts";

describe("the documents", () => {
  for (const file of documents()) {
    it(`${file} links to what is there`, () => {
      for (const { to, heading } of linksOf(file)) {
        assert.ok(existsSync(to), `${file} links to ${to}, which is not there`);
        if (heading !== undefined)
          assert.ok(anchorsOf(to).includes(heading), `${file} links to ${to}#${heading}: there is no such heading`);
      }
    });

    it(`${file} names files that are there`, () => {
      const paths = codeIn(read(file)).filter((code) => /^(src|test|examples|bench|scripts|console|docs)\/[\w./{},*-]+\.\w+$/.test(code));
      for (const path of paths) {
        if (/\bx\b/.test(path)) continue; // a pattern: "src/store/x.ts"
        assert.ok(globSync(path).length > 0, `${file} names ${path}, which is not there`);
      }
    });
  }

  it("are all in the index, and those of users in both READMEs", () => {
    const index = linksOf("docs/README.md").map(({ to }) => to);
    const ours = documents().filter((file) => file.startsWith("docs/") && file !== "docs/README.md");
    assert.deepEqual(
      ours.filter((file) => !index.includes(file)),
      [],
    );
    for (const readme of ["README.md", "README.zh-CN.md"]) {
      const links = linksOf(readme).map(({ to }) => to);
      assert.deepEqual(
        ours.filter((file) => !file.startsWith("docs/decisions/") && !links.includes(file)),
        [],
        readme,
      );
    }
  });

  it("say the same in both READMEs", () => {
    const [english, chinese] = ["README.md", "README.zh-CN.md"] as const;
    const levels = (file: string) => [...read(file).matchAll(/^#+ /gm)].map(([mark]) => mark);
    assert.deepEqual(levels(chinese), levels(english));
    const code = (file: string) => blocksOf(file, "ts").map((block) => block.replace(/ *\/\/.*$/gm, ""));
    assert.deepEqual(code(chinese), code(english));
    const links = (file: string) => linksOf(file).filter(({ to }) => !to.startsWith("README") && !/\.png$/.test(to));
    assert.deepEqual(links(chinese), links(english));
    assert.deepEqual(codeIn(section(chinese, "## 入口")), codeIn(section(english, "## Doors")));
  });
});

describe("docs/events.md", () => {
  const kinds = ["RunEvent", "StepEvent", "SpeechEvent", "CallEvent", "InterruptEvent", "ThreadEvent"];
  const events = kinds
    .flatMap((kind) => shapesOf("src/core/event.ts", kind))
    .flatMap(({ types, fields }) => types.map((type) => [type, ...fields].join(" ")));

  it("lists every event with its fields, and nothing else", () => {
    const [listed = ""] = blocksOf("docs/events.md", "");
    const lines = listed.trim().split("\n");
    assert.deepEqual(lines.map((line) => line.split(/ +/).join(" ")).sort(), events.sort());
  });

  it("says of every event what it becomes", () => {
    const [table = ""] = read("docs/events.md").split("## Fields");
    const named = codeIn(table);
    for (const event of events) {
      const [type = ""] = event.split(" ");
      assert.ok(named.includes(type) || named.includes(type.replace(/\..*/, ".*")), `${type} is missing`);
    }
  });
});

describe("docs of options", () => {
  const options = [
    ["docs/configuration.md", "src/handback.ts", "Config"],
    ["docs/configuration.md", "src/agui-config.ts", "AguiConfig"],
    ["docs/configuration.md", "src/server/agui-options.ts", "AguiOptions", "routes", "graphs", "followMs"],
    ["docs/configuration.md", "src/server/agui-options.ts", "AguiRoutes"],
    ["docs/configuration.md", "src/server/sandbox.ts", "SandboxOptions"],
    ["docs/configuration.md", "src/server/cors.ts", "CorsOptions"],
    ["docs/configuration.md", "src/engine/webhooks.ts", "WebhookOptions"],
    ["docs/configuration.md", "src/agent/chat.ts", "ChatOptions"],
    ["docs/configuration.md", "src/server/native.ts", "Scenario"],
    ["docs/tools.md", "src/agent/tool.ts", "ToolDefinition<I, O>"],
    ["docs/tools.md", "src/agent/tool.ts", "ToolContext"],
    ["docs/graphs.md", "src/agent/graph/graph.ts", "GraphOptions<F extends Fields, N extends string>"],
    ["docs/langgraph.md", "src/langgraph/langgraph.ts", "LangGraphOptions"],
  ] as const;
  for (const [document, source, type, ...inner] of options) {
    it(`${document} has every field of ${type.replace(/<.*/, "")}`, () => {
      const text = read(document);
      const fields = shapesOf(source, type)
        .flatMap((shape) => shape.fields)
        .map((field) => field.replace("?", ""));
      assert.ok(fields.length > 0);
      const missing = fields.filter((field) => !(inner as readonly string[]).includes(field) && !new RegExp(`\\b${field}\\b`).test(text));
      assert.deepEqual(missing, []);
    });
  }

  it("docs/configuration.md has every flag and every environment variable", () => {
    const flags = read("src/cli/flags.ts");
    const [, listed = ""] = /const OPTIONS = \{([\s\S]*?)\} as const/.exec(flags) ?? [];
    const names = [...listed.matchAll(/^ {2}"?([\w-]+)"?:/gm)].map(([, name]) => `--${name}`);
    const variables = [...new Set(flags.match(/\b(HANDBACK|OPENAI)_[A-Z_]+\b/g))];
    assert.ok(names.length > 10 && variables.length > 10);
    const text = read("docs/configuration.md");
    assert.deepEqual(
      [...names, ...variables].filter((name) => !text.includes(name)),
      [],
    );
  });
});

describe("routes in the docs", () => {
  const routes = Object.keys(openApi("test")["paths"] as object).map((path) => path.replace(/\{\w+\}/g, ":id"));
  const page = (route: string) => (route.startsWith("/v1") ? "native" : /^\/chat|\/tool-/.test(route) ? "rest" : "aisdk");

  for (const route of routes) {
    it(`${route} is in docs/${page(route)}.md`, () => {
      // Verbs of one thing may be told together: "`/v1/calls/:id/claim` · `/heartbeat`".
      const [whole, last] = [route, `/${route.split("/").at(-1)}`].map((text) => text.replaceAll(":id", ":\\w+"));
      const told = new RegExp(`${whole}(?![\\w/])|\`${last}[ \`]`).test(read(`docs/${page(route)}.md`));
      assert.ok(told, `${route} is missing`);
    });
  }

  it("of /v1 are all real, in every document", () => {
    for (const file of documents()) {
      for (const [route] of read(file).matchAll(/\/v1\/[a-z][\w/:<>-]*/g)) {
        const plain = route.replace(/\/$/, "").replace(/:\w+|<\w+>|t1\b/g, ":id");
        assert.ok(
          routes.some((real) => real === plain || real.startsWith(`${plain}/`)),
          `${file} names ${route}`,
        );
      }
    }
  });
});

describe("docs/decisions/dependencies.md", () => {
  const manifests = ["package.json", "console/package.json"].map(
    (file) => JSON.parse(read(file)) as Record<string, Record<string, string>>,
  );
  const wanted = new Set(
    manifests.flatMap((manifest) =>
      ["dependencies", "peerDependencies", "devDependencies"].flatMap((kind) => Object.keys(manifest[kind] ?? {})),
    ),
  );
  const rows = read("docs/decisions/dependencies.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((row) => codeIn(row.split("|")[1] ?? ""));

  it("names every dependency once", () => assert.deepEqual(listed.toSorted(), [...wanted].sort()));

  it("gives a reason for each", () => {
    for (const row of rows) assert.match(row.split("|")[2] ?? "", /\w{2}/, row);
  });
});

describe("docs/pitfalls.md", () => {
  it("says of each pitfall which test holds it", () => {
    const pitfalls = [...read("docs/pitfalls.md").matchAll(/^### (1\.\d+) /gm)].map(([, number]) => number);
    assert.equal(pitfalls.length, 25);
    const held = [...section("docs/pitfalls.md", "## Which test holds which").matchAll(/^\| (1\.\d+) .*`(src|test)\/[^`]+`/gm)];
    assert.deepEqual(
      held.map(([, number]) => number),
      pitfalls,
    );
  });
});
