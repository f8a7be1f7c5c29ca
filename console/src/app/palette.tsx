import { Command } from "cmdk";
import { nameOf } from "handback/client";
import { Keyboard, Languages, MessageSquare, Moon, SquarePen, Sun } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useThreads } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Keys } from "../ui/keys.tsx";
import { openShortcuts } from "./layers.ts";
import { PAGES } from "./pages.ts";
import { to } from "./place.ts";
import { language, prefer, shownTheme } from "./preferences.ts";

/** Everything that can be reached by typing its name. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const t = useT();
  const [, go] = useLocation();
  const { threads } = useThreads({});
  const then = (act: () => void) => () => {
    onClose();
    act();
  };
  const dark = shownTheme() === "dark";
  const other = language() === "en" ? "zh-CN" : "en";
  return (
    <Dialog bare open onClose={onClose} title={t("shell.search")} className="mt-[12vh]! max-w-xl">
      <Command label={t("shell.search")} className="flex max-h-[60vh] flex-col">
        <Command.Input
          autoFocus
          placeholder={t("shell.palettePlaceholder")}
          className="h-13 shrink-0 border-b border-line bg-transparent px-5 text-lg outline-none"
        />
        <Command.List className="min-h-0 flex-1 overflow-auto p-2 [&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-muted">
          <Command.Empty className="px-3 py-8 text-center text-muted">{t("shell.paletteEmpty")}</Command.Empty>
          <Command.Group heading={t("shell.palettePages")}>
            {PAGES.map(({ id, path, label, icon: Icon, keys }) => (
              <Row key={id} icon={<Icon />} keys={keys} onSelect={then(() => go(path))}>
                {t(label)}
              </Row>
            ))}
          </Command.Group>
          <Command.Group heading={t("shell.paletteActions")}>
            <Row icon={<SquarePen />} keys="n" onSelect={then(() => go("/"))}>
              {t("shell.newThread")}
            </Row>
            <Row icon={dark ? <Sun /> : <Moon />} onSelect={then(() => prefer({ theme: dark ? "light" : "dark" }))}>
              {t(dark ? "shell.toLight" : "shell.toDark")}
            </Row>
            <Row icon={<Languages />} onSelect={then(() => prefer({ language: other }))}>
              {t("shell.switchLanguage")}
            </Row>
            <Row icon={<Keyboard />} keys="?" onSelect={then(openShortcuts)}>
              {t("shell.shortcuts")}
            </Row>
          </Command.Group>
          {threads.length > 0 && (
            <Command.Group heading={t("shell.paletteThreads")}>
              {threads.slice(0, 50).map((thread) => (
                <Row
                  key={nameOf(thread)}
                  value={`${thread.title ?? ""} ${nameOf(thread)}`}
                  icon={<MessageSquare />}
                  onSelect={then(() => go(to.chat(nameOf(thread))))}
                >
                  {thread.title ?? thread.threadId}
                </Row>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}

function Row({
  icon,
  keys,
  value,
  onSelect,
  children,
}: {
  icon: ReactNode;
  keys?: string;
  value?: string;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Command.Item
      {...(value !== undefined && { value })}
      onSelect={onSelect}
      className="flex h-10 cursor-pointer items-center gap-3 rounded-lg px-3 data-[selected=true]:bg-hover"
    >
      <span className="text-muted [&>svg]:size-4.5">{icon}</span>
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {keys && <Keys keys={keys} />}
    </Command.Item>
  );
}
