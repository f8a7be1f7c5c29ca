import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";

const FOLDER = "test/console/shots";
/** How many of a screen's pixels may differ, and by how much one must to count. */
const [MOST, LEAST] = [0.005, 40];

/**
 * Asserts that a screen looks as it did when its picture was taken. Pictures depend on the browser and on the fonts: where
 * these are others it says so and compares nothing. `UPDATE_SHOTS=1` takes them anew.
 */
export async function looksAsBefore(t: TestContext, page: Page, name: string): Promise<void> {
  const file = join(FOLDER, `${name}.png`);
  const mask = [page.getByTestId("connection"), page.locator("time"), page.locator("[data-testid=banner]")];
  const now = await page.screenshot({ animations: "disabled", caret: "hide", mask, maskColor: "#888888" });
  const here = environment(page);
  if (process.env["UPDATE_SHOTS"]) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, "environment.txt"), here);
    return writeFileSync(file, now);
  }
  const there = existsSync(join(FOLDER, "environment.txt")) ? readFileSync(join(FOLDER, "environment.txt"), "utf8") : "nothing";
  if (here !== there) return t.diagnostic(`${name} is not compared: its picture was taken with ${there}, this is ${here}`);
  const part = await difference(page, readFileSync(file), now);
  if (part > MOST) writeFileSync(join(FOLDER, `${name}.new.png`), now);
  assert.ok(
    part <= MOST,
    `${name}: ${(part * 100).toFixed(2)} % of the pixels differ; see ${name}.new.png (UPDATE_SHOTS=1 takes it as the new one)`,
  );
}

/** What pixels depend on. */
function environment(page: Page): string {
  const major = page.context().browser()?.version().split(".")[0];
  const font = (family: string) => spawnSync("fc-match", [family], { encoding: "utf8" }).stdout?.trim() ?? "";
  return `Chromium ${major}, ${font("system-ui")}, ${font("monospace")}`;
}

/** The part of two pictures that differs. The browser reads them, so that we need not. */
async function difference(page: Page, one: Buffer, two: Buffer): Promise<number> {
  const reader = await page.context().newPage();
  try {
    return await reader.evaluate<number>(`(async () => {
      const pixels = async (data) => {
        const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))]));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, bitmap.width, bitmap.height);
      };
      const [a, b] = [await pixels("${one.toString("base64")}"), await pixels("${two.toString("base64")}")];
      if (a.width !== b.width || a.height !== b.height) return 1;
      let differ = 0;
      for (let i = 0; i < a.data.length; i += 4) {
        const by = Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) + Math.abs(a.data[i + 2] - b.data[i + 2]);
        if (by > ${LEAST}) differ += 1;
      }
      return differ / (a.data.length / 4);
    })()`);
  } finally {
    await reader.close();
  }
}
