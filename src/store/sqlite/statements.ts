import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** Runs SQL, preparing each text once. The caller says what its rows look like. */
export type Statements = {
  all<Row>(text: string, ...values: SQLInputValue[]): Row[];
  get<Row>(text: string, ...values: SQLInputValue[]): Row | undefined;
  run(text: string, ...values: SQLInputValue[]): { changes: number; rowid: number };
};

export function statements(db: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>();
  const prepare = (text: string) => {
    const statement = prepared.get(text) ?? db.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  return {
    all: <Row>(text: string, ...values: SQLInputValue[]) => prepare(text).all(...values) as unknown as Row[],
    get: <Row>(text: string, ...values: SQLInputValue[]) => prepare(text).get(...values) as unknown as Row | undefined,
    run(text, ...values) {
      const { changes, lastInsertRowid } = prepare(text).run(...values);
      return { changes: Number(changes), rowid: Number(lastInsertRowid) };
    },
  };
}
