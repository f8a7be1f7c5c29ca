import type { graph as en } from "../en/graph.ts";
import type { Translation } from "../entry.ts";

export const graph: Translation<typeof en> = {
  title: "流程图",
  drawing: "流程图，节点列表中有相同的内容",
  nodes: "节点",
  next: "下一步：{names}",
  kind_node: "函数",
  kind_agent: "Agent",
  kind_tool: "工具",
  kind_graph: "子图",
  agent: "Agent",
  thread: "会话",
  noThread: "还没有会话",
  implicit: "这个 Agent 不是流程图：模型会不断调用工具，直到没有可调用的为止。",
};
