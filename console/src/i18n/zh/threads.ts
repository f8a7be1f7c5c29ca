import type { threads as en } from "../en/threads.ts";
import type { Translation } from "../entry.ts";

export const threads: Translation<typeof en> = {
  title: "会话",
  search: "搜索标题和消息",
  status: "状态",
  all: "全部",
  open: "打开日志",
  openFailed: "无法打开：{why}",
  none: "还没有会话",
  noneHint: "无论从这里还是通过 API 开始的会话，都会自动出现在这里。",
  nothingFound: "没有找到",
  nothingFoundHint: "会搜索标题以及用户和 Agent 说过的话。",
  showAll: "显示全部",
  more: "显示更多",
  menu: "“{title}”的操作",
};
