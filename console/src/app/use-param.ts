import { useSearchParams } from "wouter";

/** A part of the address, such as `?dock=events`: what a view shows is in its URL, so that a link shows the same. */
export function useParam(name: string): [string | undefined, (value: string | undefined, options?: { replace?: boolean }) => void] {
  const [params, setParams] = useSearchParams();
  return [
    params.get(name) ?? undefined,
    (value, { replace = true } = {}) =>
      setParams(
        () => {
          // Not the hook's own: two changes in a row must both last.
          const next = new URLSearchParams(location.search);
          if (value === undefined || value === "") next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace },
      ),
  ];
}
