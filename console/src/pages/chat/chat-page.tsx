import { ThreadPage } from "./thread-page.tsx";
import { Welcome } from "./welcome.tsx";

/** A thread, or the place where one begins. */
export default function ChatPage({ threadId }: { threadId?: string }) {
  return threadId === undefined ? <Welcome /> : <ThreadPage threadId={threadId} />;
}
