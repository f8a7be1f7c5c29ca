const DRINKS = [
  ["Espresso", "浓缩咖啡"],
  ["Filter", "手冲"],
  ["Cold brew", "冷萃"],
  ["Tea", "茶"],
  ["Pastry", "点心"],
] as const;

/** A week in a coffee shop, for the document panel. */
export function report(zh: boolean): { title: string; text: string } {
  return zh ? { title: "本周周报", text: inChinese() } : { title: "State of the shop", text: inEnglish() };
}

const sold = (i: number) => 40 + i * 7;

function inEnglish(): string {
  const rows = DRINKS.map(([name], i) => `| ${name} | ${sold(i)} | ${i % 2 ? "up" : "down"} |`).join("\n");
  const parts = DRINKS.map(
    ([name], i) =>
      `## ${name}\n\n${name} sold ${sold(i)} times this week, ${i % 2 ? "more" : "less"} than the week before. Nothing was lost, nothing ran twice.`,
  );
  return `# State of the shop

Every call below was handed out, waited without costing anything, and came back exactly once.

| item | sold | trend |
|---|---|---|
${rows}

${parts.join("\n\n")}
`;
}

function inChinese(): string {
  const rows = DRINKS.map(([, name], i) => `| ${name} | ${sold(i)} | ${i % 2 ? "上升" : "下降"} |`).join("\n");
  const parts = DRINKS.map(
    ([, name], i) => `## ${name}\n\n本周售出 ${sold(i)} 份，比上周${i % 2 ? "多" : "少"}。没有丢失，也没有重复执行。`,
  );
  return `# 本周周报

下面的每一次调用都交给了外部，等待时没有任何开销，并且恰好回来一次。

| 商品 | 销量 | 趋势 |
|---|---|---|
${rows}

${parts.join("\n\n")}
`;
}
