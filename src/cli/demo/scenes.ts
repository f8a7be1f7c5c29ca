import { AppError } from "../../core/error.ts";
import type { Json } from "../../core/json.ts";
import type { CallPart } from "../../core/thread.ts";
import type { ModelEvent } from "../../model/model.ts";
import { calls, says, thinks } from "../../model/scripted.ts";
import { report } from "./report.ts";

/** What was asked, what has been done for it so far, and in which language. */
export type Moment = { text: string; done: readonly CallPart[]; zh: boolean };

/** How the demo answers to certain words. */
export type Scene = { words: RegExp; play: (moment: Moment) => readonly ModelEvent[] | AsyncIterable<ModelEvent> };

const PRIMES = `(function sumPrimes(limit) {
  let sum = 0;
  for (let n = 2; n <= limit; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) sum += n;
  }
  return sum;
})(1000);`;

/** The first that fits is played. Those in front are for whoever types. */
const SCENES: readonly Scene[] = [
  {
    words: /^(echo|复述)[\s:：]/i,
    play: ({ text }) => words(text.replace(/^(echo|复述)[\s:：]+/i, "")),
  },
  {
    words: /^(run|eval|执行)[\s:：]/i,
    play: ({ text, done: [call], zh }) => {
      if (call) return words(zh ? `结果：${show(call)}` : `It gave ${show(call)}.`);
      return [
        ...words(zh ? "我在你的浏览器里执行它。" : "I will run that in your browser."),
        ...called("browser_js_eval", { code: text.replace(/^(run|eval|执行)[\s:：]+/i, "") }, 8),
      ];
    },
  },
  {
    words: /prime|素数|质数/i,
    play: ({ done: [call], zh }) => {
      if (call) return words(zh ? `1000 以内所有素数之和是 ${show(call)}。` : `The sum of all primes up to 1000 is ${show(call)}.`);
      return [
        ...thinks(...pieces(zh ? "心算容易错，不如让浏览器来算。" : "I could get that wrong in my head. The browser will not.")),
        ...words(zh ? "我在你的浏览器里算一下。" : "I will compute it in your browser."),
        ...called("browser_js_eval", { code: PRIMES }, 24),
      ];
    },
  },
  {
    words: /refund|pay back|退款/i,
    play: ({ done: [call], zh }) => {
      if (!call)
        return [...words(zh ? "这需要一个人同意。" : "A person has to agree to that."), ...called("refund", { order: "A-17", amount: 25 })];
      if (isDone(call)) return words(zh ? `完成：${show(call)}` : `Done: ${show(call)}`);
      return words(zh ? `没有退款：${why(call, zh)}。` : `I did not refund it: ${why(call, zh)}.`);
    },
  },
  {
    words: /draft|delete.*order|clean.*order|草稿|清理/i,
    play: ({ done: [call], zh }) => {
      if (!call) {
        return [
          ...words(zh ? "我找到 120 个旧的草稿订单。删除需要你同意。" : "I found 120 old draft orders. Deleting them needs your approval."),
          ...called("delete_orders", { status: "draft", limit: 120 }, 6),
        ];
      }
      if (!isDone(call)) return words(zh ? `我什么都没有删除：${why(call, zh)}。` : `I did not delete anything: ${why(call, zh)}.`);
      const { deleted } = outputOf(call) as { deleted?: number };
      if (deleted === undefined) return words(zh ? `你的回答是：${show(call)}` : `You answered: ${show(call)}`);
      const edited = call.edited === undefined ? "" : zh ? "（按你改过的数量）" : ", the number you set";
      return words(zh ? `已删除 ${deleted} 个草稿订单${edited}。` : `I deleted ${deleted} draft orders${edited}.`);
    },
  },
  {
    words: /timeout|deadline|warehouse|超时|仓库/i,
    play: ({ done: [call], zh }) => {
      if (!call) {
        return [
          ...words(zh ? "我问一下仓库，它有 10 秒时间。" : "I will ask the warehouse. It has ten seconds."),
          ...called("ask_warehouse", { question: zh ? "还有咖啡豆吗？" : "Are there any beans left?" }),
        ];
      }
      if (isDone(call)) return words(zh ? `仓库说：${show(call)}` : `The warehouse says: ${show(call)}`);
      return words(zh ? `仓库没有及时回答：${why(call, zh)}。` : `The warehouse did not answer in time: ${why(call, zh)}.`);
    },
  },
  {
    words: /\btwo\b|\bboth\b|parallel|stock|并行|两个|库存/i,
    play: ({ done, zh }) => {
      if (done.length === 0) {
        return [
          ...words(zh ? "我同时查两样东西的库存。" : "I will ask for two things at once."),
          ...called("get_stock", { item: zh ? "咖啡豆" : "beans" }),
          ...called("get_stock", { item: zh ? "牛奶" : "milk" }),
        ];
      }
      const lines = done.map((call) => `${(call.input as { item: string }).item}: ${show(call)}`);
      return words(zh ? `都回来了。${lines.join("；")}。` : `Both are back. ${lines.join("; ")}.`);
    },
  },
  {
    words: /background|背景/i,
    play: ({ text, done: [call], zh }) => {
      const color = /#[0-9a-f]{3,8}|\b(pink|teal|gold|green|blue|red|lavender|beige)\b/i.exec(text)?.[0] ?? "lavender";
      if (!call) return [...words(zh ? "你的页面会先问你。" : "Your page will ask you first."), ...called("change_background", { color })];
      if (isDone(call)) return words(zh ? `背景现在是 ${color}。` : `The background is ${color} now.`);
      return words(zh ? `背景没有变：${why(call, zh)}。` : `The background stays as it was: ${why(call, zh)}.`);
    },
  },
  {
    words: /plug|disconnect|断网|拔/i,
    play: ({ zh }) => words(lines(zh)),
  },
  {
    words: /report|document|周报|报告|文档/i,
    play: ({ done, zh }) => {
      const { title, text } = report(zh);
      if (done.length === 0)
        return [...words(zh ? "我把它写成文档。" : "I will write it down."), ...called("open_report_document", { title })];
      if (done.length === 1) return [...words(text), ...called("close_report_document", {})];
      return words(zh ? "周报写好了。" : "The report is finished.");
    },
  },
  {
    words: /menu|coffee|咖啡|菜单/i,
    play: ({ done: [call], zh }) => {
      if (!call) return [...words(zh ? "我问一下菜单。" : "Let me ask for the menu."), ...called("get_menu", { category: "coffee" })];
      return words(zh ? `菜单来了：${show(call)}` : `Here is the menu: ${show(call)}`);
    },
  },
  {
    words: /time|clock|时间|几点/i,
    play: ({ done: [call], zh }) => {
      if (!call) return called("get_time", {});
      return words(zh ? `现在是 ${show(call)}。` : `It is ${show(call)}.`);
    },
  },
  {
    words: /^(fail|出错)/i,
    async *play({ zh }) {
      yield* words(zh ? "我开始说话，" : "I begin to speak, ").slice(0, -1);
      throw new AppError("model", "The demo model was asked to fail");
    },
  },
];

const HELLO: Scene = {
  words: /./,
  play: ({ zh }) =>
    words(
      zh
        ? "你好！我是一段脚本，不需要密钥。可以让我算 1000 以内的素数之和（在你的浏览器里运行）、查咖啡菜单（由别的系统交回）、清理草稿订单（需要人同意）、写周报，或者问时间。"
        : "Hello! I am a script, so no key is needed. Ask me for the sum of all primes up to 1000 (runs in your browser), the coffee menu (somebody else hands it back), deleting draft orders (a person must agree), a report, or the time.",
    ),
};

export function sceneFor(text: string): Scene {
  return SCENES.find(({ words: fit }) => fit.test(text)) ?? HELLO;
}

const COUNT = 50;

/** Lines with numbers: whoever misses one will see it. */
function lines(zh: boolean): string {
  const line = (n: number) => (zh ? `${n}. 第 ${n} 行已经写进日志，断线也不会丢。` : `${n}. Line ${n} of ${COUNT} is safe in the log.`);
  const head = zh ? "我数到 50。随时可以断开连接。" : "I will count to 50. Cut the connection whenever you like.";
  return `${head}\n\n${Array.from({ length: COUNT }, (_, i) => line(i + 1)).join("\n")}`;
}

function words(text: string): ModelEvent[] {
  return says(...pieces(text));
}

/** Words, or two characters where there are none. */
function pieces(text: string): string[] {
  return text.match(/[\p{sc=Han}，。：；！？、（）]{1,2}|[^\s\p{sc=Han}]+\s*|\s+/gu) ?? [];
}

/** A counter would begin again after a restart. */
function called(name: string, input: Json, chunks = 1): ModelEvent[] {
  return calls(name, input, { id: `call_${crypto.randomUUID().slice(0, 8)}`, chunks });
}

function isDone({ settlement }: CallPart): boolean {
  return settlement?.status === "completed";
}

function outputOf({ settlement }: CallPart): object {
  const output = settlement?.output;
  return typeof output === "object" && output !== null ? output : {};
}

function show({ settlement }: CallPart): string {
  const output = settlement?.output;
  if (output === undefined) return `not known (${settlement?.error ?? "no result"})`;
  return typeof output === "string" ? output : JSON.stringify(output);
}

function why({ settlement }: CallPart, zh: boolean): string {
  return settlement?.error ?? (zh ? "没有说明原因" : "no reason was given");
}
