import type { dock as english } from "../en/dock.ts";
import type { Translation } from "../entry.ts";

export const dock: Translation<typeof english> = {
  events: "事件",
  timeline: "时间线",
  graph: "流程图",
  state: "状态",
  document: "文档",
  filter: "过滤事件",
  noEvents: "还没有任何事件",
  nothingFits: "没有符合条件的事件",
  noState: "没有状态",
  noStateHint: "流程图和会保存状态的 Agent 会在这里显示。",
  noDocument: "没有文档",
  noDocumentHint: "Agent 撰写报告时，内容会显示在这里，对话保持简短。",
};
