import { Download, Link2, MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import { useLocation } from "wouter";
import { to } from "../../app/place.ts";
import { toast } from "../../app/toast.tsx";
import { saveLog } from "../../call/save-log.ts";
import { useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { IconButton } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";

/** What can be done with the thread that is open. */
export function ThreadMenu({ threadId, title, onRename }: { threadId: string; title: string; onRename: () => void }) {
  const t = useT();
  const [, go] = useLocation();
  const { remove, undoRemove, exportThread } = useActions();
  const drop = () => {
    remove(threadId, title);
    go(to.threads());
    toast({ text: t("chat.deleted", { title }), action: { label: t("chat.undo"), run: () => undoRemove(threadId) }, ms: 5_000 });
  };
  const copyLink = async () => {
    const copied = await Promise.resolve(navigator.clipboard?.writeText(location.href)).then(
      () => navigator.clipboard !== undefined,
      () => false,
    );
    toast(copied ? { text: t("ui.copied"), tone: "good" } : { text: t("ui.copyFailed"), tone: "bad" });
  };
  return (
    <Menu
      items={[
        { label: t("chat.rename"), icon: <Pencil className="size-4" />, onSelect: onRename },
        { label: t("chat.export"), icon: <Download className="size-4" />, onSelect: () => void saveLog(threadId, exportThread, t) },
        { label: t("chat.copyLink"), icon: <Link2 className="size-4" />, onSelect: () => void copyLink() },
        "line",
        { label: t("chat.delete"), icon: <Trash2 className="size-4" />, danger: true, onSelect: drop },
      ]}
    >
      <IconButton label={t("chat.threadMenu")} icon={<MoreHorizontal className="size-4.5" />} />
    </Menu>
  );
}
