import { connect, HandbackError } from "handback/client";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { createData } from "../data/data.ts";
import { DataProvider } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { API_ROOT } from "./place.ts";
import { SignIn } from "./sign-in.tsx";
import { authorization, useToken } from "./token.ts";

type Access = "open" | "unknown" | "wrong" | "executor";

/** Lets those in whom the server knows, and asks the others for a key. All data of the page belongs to that key. */
export function Gate({ children }: { children: ReactNode }) {
  const t = useT();
  const token = useToken();
  const [access, setAccess] = useState<Access>(token === undefined && answeredWith401() ? "unknown" : "open");

  useEffect(() => {
    if (token === undefined && answeredWith401()) return setAccess("unknown");
    const left = new AbortController();
    connect({ url: API_ROOT, headers: authorization })
      .meta()
      .then(
        () => setAccess("open"),
        (error: unknown) => {
          if (left.signal.aborted || !(error instanceof HandbackError)) return;
          if (error.status === 401) setAccess(token === undefined ? "unknown" : "wrong");
          if (error.status === 404) setAccess("executor");
        },
      );
    return () => left.abort();
  }, [token]);

  // Another key is somebody else, with other data.
  const data = useMemo(() => {
    // A key that is taken back while the page is open shows as a 401 to whatever asks next.
    const guarded: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      if (response.status === 401) setAccess(token === undefined ? "unknown" : "wrong");
      return response;
    };
    return createData({ url: API_ROOT, headers: authorization, fetch: guarded, ...(token !== undefined && { token }) });
  }, [token]);
  useEffect(() => () => data.close(), [data]);

  if (access === "open") return <DataProvider data={data}>{children}</DataProvider>;
  const problem = { unknown: undefined, wrong: t("shell.signInWrong"), executor: t("shell.executorKey") }[access];
  return <SignIn key={token} problem={problem} />;
}

/** Whether this very page came with a 401: then nothing else needs to be asked first. */
function answeredWith401(): boolean {
  const [navigation] = performance.getEntriesByType("navigation") as (PerformanceNavigationTiming & { responseStatus?: number })[];
  return navigation?.responseStatus === 401;
}
