// Takes the pictures of docs/console.md: `node --conditions=handback-source test/console/pictures.ts [folder] [page…]`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { demoAgent } from "../../src/cli/demo/agent.ts";
import { SCENARIOS } from "../../src/cli/demo/scenarios.ts";
import { kitchen } from "./kitchen.ts";
import { chromiumPath, FLAGS, openSite, say } from "./support.ts";

const [folder = "docs/console", ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
await using site = await openSite({
  agents: { default: demoAgent({ pace: 1 }), kitchen: kitchen(300) },
  scenarios: SCENARIOS,
  demo: true,
});

/** Width and height of a desk and of a phone, and the pages of which there are pictures, unless some are asked for. */
const SIZES = [
  [1360, 850],
  [390, 780],
] as const;
const ON_PHONES = ["chat", "call", "run"];
const ON_DESKS = ["start", "chat", "report", "inbox", "threads", "runs", "run", "graph", "playground", "settings"];

const browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
try {
  for (const language of ["en", "zh-CN"] as const) {
    const zh = language === "zh-CN";
    const threads = await fill(zh);
    for (const theme of ["light", "dark"] as const) {
      for (const [width, height] of SIZES) {
        const context = await browser.newContext({
          viewport: { width, height },
          colorScheme: theme,
          locale: language,
          timezoneId: "UTC",
          reducedMotion: "reduce",
          deviceScaleFactor: 1,
        });
        const page = await context.newPage();
        const phone = width < 400;
        const pages: [name: string, path: string, ready: string][] = [
          ["start", "/", "[data-testid=scenario-report]"],
          ["chat", `/t/${threads.talk}?dock=${phone ? "none" : "events"}`, "[data-testid=call-card]"],
          ["report", `/t/${threads.report}?dock=${phone ? "none" : "document"}`, "[data-testid=document-chip]"],
          ["timeline", `/t/${threads.talk}?dock=timeline`, "[data-testid=waterfall]"],
          ["inbox", phone ? "/inbox" : `/inbox/${encodeURIComponent(threads.call)}`, "[data-testid=inbox-row]"],
          ["call", `/inbox/${encodeURIComponent(threads.call)}`, "[data-testid=call-card]"],
          ["threads", "/threads", "[data-testid=thread-row]"],
          ["runs", "/runs", "[role=listitem]"],
          ["run", `/runs/${threads.talk}%3A1`, "[data-testid=waterfall]"],
          ["graph", `/graph?agent=kitchen&thread=${threads.graph}`, "[data-testid=node-confirm]"],
          ["graph-thread", `/t/${threads.graph}?dock=graph`, phone ? "[role=dialog], dialog" : "[data-testid=node-confirm]"],
          ["failed", `/t/${threads.failed}?dock=none`, "[role=alert]"],
          ["playground", "/playground", "h1"],
          ["settings", "/settings", "h1"],
        ];
        for (const [name, path, ready] of pages) {
          if (only.length > 0 ? !only.includes(name) : !(phone ? ON_PHONES : ON_DESKS).includes(name)) continue;
          await page.goto(site.url + path);
          await page.locator(ready).first().waitFor();
          await page.evaluate("document.fonts.ready");
          await page.waitForTimeout(700); // the graph is drawn and measured in steps that nothing tells of
          await page.screenshot({ path: join(folder, `${name}-${theme}-${zh ? "zh" : "en"}${phone ? "-phone" : ""}.png`) });
        }
        await context.close();
      }
    }
    for (const id of Object.values(threads)) await fetch(`${site.url}/v1/threads/${id}`, { method: "DELETE" });
  }
} finally {
  await browser.close();
}

/** A few threads with something of everything in them. */
async function fill(zh: boolean) {
  const tag = zh ? "zh" : "en";
  const [talk, report, graph, failed, late] = ["talk", "report", "graph", "failed", "late"].map((name) => `${name}-${tag}`) as [
    string,
    string,
    string,
    string,
    string,
  ];
  await say(site, failed, zh ? "出错" : "fail, please");
  await say(site, report, zh ? "写一份周报" : "Write the weekly report");
  await say(site, late, zh ? "清理旧的草稿订单" : "Delete the old draft orders");
  await quiet(failed);
  await quiet(report);
  const asked = await post(`/v1/threads/${graph}/runs`, { message: zh ? "番茄炒蛋" : "pancakes", agent: "kitchen" });
  if (!asked.ok) throw new Error(await asked.text());
  await quiet(graph);
  await say(site, talk, zh ? "1000 以内所有素数之和是多少？" : "What is the sum of all primes up to 1000?");
  const [primes] = await waits(talk);
  await post(`/v1/calls/${primes?.id}/result`, { output: 76127 });
  await quiet(talk);
  await say(site, talk, zh ? "清理旧的草稿订单" : "Delete the old draft orders");
  const [order] = await waits(talk);
  await post(`/v1/calls/${order?.callId}/approve`, { input: { status: "draft", limit: 10 } });
  await quiet(talk);
  await say(site, talk, zh ? "同时查两个库存" : "Look up two things in stock");
  const [, second] = await waits(talk);
  await post(`/v1/calls/${second?.id}/result`, { output: { left: 12 } });
  const [approval] = await waits(late);
  return { talk, report, graph, failed, late, call: approval?.id ?? "" };
}

function post(path: string, body: object): Promise<Response> {
  return fetch(site.url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

type Row = { status: string; waits: { id: string; callId?: string }[] };

async function quiet(threadId: string): Promise<Row> {
  for (;;) {
    const response = await fetch(`${site.url}/v1/threads/${threadId}`);
    const row = (await response.json()) as Row;
    if (response.ok && row.status !== "running") return row;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function waits(threadId: string): Promise<Row["waits"]> {
  for (;;) {
    const row = await quiet(threadId);
    if (row.waits.length > 0) return row.waits;
  }
}
