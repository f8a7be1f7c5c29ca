import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { Field, TextInput } from "../ui/field.tsx";
import { LanguageSwitch, ThemeSwitch } from "./controls.tsx";
import { Logo } from "./logo.tsx";
import { setToken } from "./token.ts";

/** Asks for a key where the server wants one. `problem` is what was wrong with the last. */
export function SignIn({ problem }: { problem?: string | undefined }) {
  const t = useT();
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== "") setToken(key.trim());
  };
  return (
    <main id="content" className="flex min-h-full items-center justify-center p-6">
      <form onSubmit={submit} className="flex w-full max-w-md flex-col gap-5 rounded-2xl border border-line bg-surface p-7 shadow-raised">
        <div className="flex items-center justify-between">
          <Logo className="size-10" />
          <div className="flex">
            <LanguageSwitch />
            <ThemeSwitch />
          </div>
        </div>
        <h1 className="text-xl font-semibold">{t("shell.signIn")}</h1>
        <Field label={t("shell.key")} hint={t("shell.signInHint")} error={problem}>
          {(ids) => (
            <TextInput
              {...ids}
              type="password"
              autoComplete="off"
              spellCheck={false}
              autoFocus
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <Button kind="primary" type="submit" icon={<KeyRound aria-hidden className="size-4" />} disabled={key.trim() === ""}>
          {t("shell.signInAction")}
        </Button>
      </form>
    </main>
  );
}
