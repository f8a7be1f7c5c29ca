import { useT } from "../i18n/i18n.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Keys } from "../ui/keys.tsx";
import { PAGES } from "./pages.ts";

/** All keys, in one place. */
export function Shortcuts({ open, onClose }: { open: boolean; onClose: () => void }) {
  const t = useT();
  const groups: { title: string; keys: [string[], string][] }[] = [
    {
      title: t("shell.keysGeneral"),
      keys: [
        [["mod+k"], t("shell.keyPalette")],
        [["?"], t("shell.keyHelp")],
        [["n"], t("shell.keyNew")],
        [["/"], t("shell.keySearch")],
        [["esc"], t("shell.keyClose")],
        ...PAGES.map(({ keys, label }): [string[], string] => [[keys], t("shell.keyGo", { page: t(label) })]),
      ],
    },
    {
      title: t("shell.keysThread"),
      keys: [
        [["enter"], t("shell.keySend")],
        [["shift+enter"], t("shell.keyNewline")],
        [["mod+enter"], t("shell.keySubmit")],
        [["."], t("shell.keyStop")],
        [["]", "["], t("shell.keyDockNext")],
      ],
    },
    {
      title: t("shell.keysInbox"),
      keys: [
        [["j", "k"], t("shell.keyNext")],
        [["a"], t("shell.keyApprove")],
        [["e"], t("shell.keyEdit")],
        [["r"], t("shell.keyReject")],
        [["x"], t("shell.keySelect")],
        [["shift+a"], t("shell.keyApproveSelected")],
        [["u"], t("shell.keyUndo")],
      ],
    },
  ];
  return (
    <Dialog wide open={open} onClose={onClose} title={t("shell.shortcuts")} description={t("shell.shortcutsHint")}>
      <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
        {groups.map(({ title, keys }, index) => (
          <section key={title} aria-label={title} className={index === 0 ? "sm:row-span-2" : ""}>
            <h3 className="mb-1.5 text-sm font-semibold text-muted">{title}</h3>
            <ul>
              {keys.map(([chords, what]) => (
                <li key={what} className="flex min-h-8 items-center justify-between gap-4 border-b border-line last:border-0">
                  <span>{what}</span>
                  <span className="flex gap-1.5">
                    {chords.map((chord) => (
                      <Keys key={chord} keys={chord} />
                    ))}
                  </span>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
