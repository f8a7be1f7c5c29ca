import { useEffect, useState } from "react";
import { useT } from "../../i18n/i18n.ts";
import { TextInput } from "../../ui/field.tsx";

/** A thread's name, which can be another one. */
export function Heading({
  title,
  renaming,
  onRename,
  onClose,
}: {
  title: string;
  renaming: boolean;
  onRename: (title: string) => void;
  onClose: () => void;
}) {
  const t = useT();
  const [name, setName] = useState(title);
  useEffect(() => {
    if (renaming) setName(title);
  }, [renaming, title]);
  if (!renaming) return <h1 className="min-w-0 truncate text-lg font-semibold">{title}</h1>;
  const save = () => {
    if (name.trim() !== "" && name.trim() !== title) onRename(name.trim());
    onClose();
  };
  return (
    <form
      className="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <h1 className="sr-only">{title}</h1>
      <TextInput
        aria-label={t("chat.rename")}
        autoFocus
        value={name}
        maxLength={200}
        onChange={(event) => setName(event.target.value)}
        onFocus={(event) => event.target.select()}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
        }}
      />
    </form>
  );
}
