import type { UserMessageView } from "handback/client";
import { Paperclip, Pencil } from "lucide-react";
import { memo, useState } from "react";
import { useTry } from "../../call/use-try.ts";
import { useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { TextArea } from "../../ui/field.tsx";

/** What a person said. It can be said differently: the answers behind it leave the conversation, the log keeps them. */
export const UserMessage = memo(function UserMessage({
  threadId,
  message,
  editable,
}: {
  threadId: string;
  message: UserMessageView;
  editable: boolean;
}) {
  const t = useT();
  const { edit } = useActions();
  const attempt = useTry();
  const [text, setText] = useState<string>();
  const files = message.parts.flatMap((part) => (part.type === "file" ? [part] : []));
  if (text !== undefined) {
    const save = () => {
      if (text.trim() === "") return;
      setText(undefined);
      void attempt(edit(threadId, message.id, text.trim())).then((ok) => ok || setText(text));
    };
    return (
      <div className="my-1 flex flex-col gap-2 rounded-xl border border-line bg-surface p-3 shadow-card">
        <TextArea
          aria-label={t("chat.editMessage")}
          autoFocus
          rows={3}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Escape") setText(undefined);
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
          }}
        />
        <p className="text-sm text-muted">{t("chat.editHint")}</p>
        <div className="flex gap-2">
          <Button kind="primary" size="sm" disabled={text.trim() === ""} onClick={save}>
            {t("chat.editSave")}
          </Button>
          <Button kind="ghost" size="sm" onClick={() => setText(undefined)}>
            {t("ui.cancel")}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <div className="group flex flex-row-reverse items-center gap-1 py-1">
      <div className="min-w-0 max-w-[85%] rounded-2xl rounded-br-md bg-accent px-4 py-2.5 whitespace-pre-wrap text-on-accent [overflow-wrap:anywhere]">
        {message.text}
        {files.map((file, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: files of a message never change
          <span key={index} className="mt-1 flex items-center gap-1.5 text-sm">
            <Paperclip aria-hidden className="size-3.5" />
            {file.name ?? file.mediaType}
          </span>
        ))}
      </div>
      <div className="flex shrink-0 items-center gap-0.5 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 [@media(hover:none)]:opacity-100">
        <CopyButton text={message.text} />
        {editable && (
          <IconButton
            size="sm"
            label={t("chat.editMessage")}
            icon={<Pencil className="size-3.5" />}
            onClick={() => setText(message.text)}
          />
        )}
      </div>
    </div>
  );
});
