import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fakeUpstream } from "../src/testing/upstream.ts";
import { scratch, until } from "./support/server-process.ts";

describe("the package", () => {
  it("installs into an empty project and runs a configuration there", async (t) => {
    const project = scratch();
    const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` };
    const npm = (cwd: string, ...args: string[]) =>
      execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    const [packed] = JSON.parse(npm(process.cwd(), "pack", "--json", "--pack-destination", project));
    const files: string[] = packed.files.map((file: { path: string }) => file.path);
    assert.ok(files.includes("dist/handback.js") && files.includes("dist/store/sqlite/writer.js"));
    assert.ok(files.includes("dist/console/index.html") && files.some((file) => /^dist\/console\/assets\/shell-.*\.js\.br$/.test(file)));
    assert.deepEqual(
      files.filter((file) => /\.test\.|conformance/.test(file)),
      [],
    );

    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    npm(project, "install", "--prefer-offline", "--no-audit", "--no-fund", join(project, packed.filename), "zod");
    copyFileSync("examples/coffee-shop/handback.config.ts", join(project, "handback.config.ts"));
    const upstream = await fakeUpstream(() => ({ text: ["We have coffee."] }));
    t.after(() => upstream.close());

    const child = spawn(process.execPath, ["node_modules/handback/dist/cli/main.js", "start", "--port", "0", "--base-url", upstream.url], {
      cwd: project,
      env,
    });
    t.after(() => child.kill("SIGKILL"));
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const url = await until(() => /listening on (http:\S+)/.exec(output)?.[1], child);
    const body = JSON.stringify({ threadId: "t", messages: [{ role: "user", content: "hi" }] });
    const response = await fetch(`${url}/agui`, { method: "POST", headers: { "content-type": "application/json" }, body });
    assert.match(await response.text(), /We have coffee\./);
    assert.match(await (await fetch(`${url}/inbox`)).text(), /<div id="root">/); // the console came along

    // Every entry loads, and none brings more than it must.
    const entries = ["handback", "handback/client", "handback/client/sandbox", "handback/profiles", "handback/testing"];
    const load = `for (const name of ${JSON.stringify(entries)}) await import(name)`;
    execFileSync(process.execPath, ["--input-type=module", "-e", load], { cwd: project });
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    assert.deepEqual(Object.keys(dependencies).sort(), ["@ai-sdk/provider", "@hono/node-server", "hono", "jose", "ws", "zod"]);
  });
});
