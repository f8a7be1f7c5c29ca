import type { status as en } from "../en/status.ts";
import type { Translation } from "../entry.ts";

export const status: Translation<typeof en> = {
  idle: "空闲",
  running: "运行中",
  streaming: "参数生成中",
  dispatched: "已下发",
  waiting: "等待处理",
  claimed: "已认领",
  done: "已完成",
  rejected: "已拒绝",
  failed: "失败",
  expired: "已超时",
  cancelled: "已取消",
  browser: "浏览器",
  external: "外部系统",
  human: "人工",
  server: "服务器",
  waitingFor: "等待处理（{owner}）",
};
