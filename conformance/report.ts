import { type JsonValue, type WritableJson, writeJson } from '../src/base/json.ts';
import type { Difference } from './differences.ts';
import type { Row } from './run.ts';

const SHOWN_MAX = 5;
const VALUE_MAX_CHARS = 120;

const marks = { same: 'ok  ', different: 'DIFF', undecided: '?   ', unanswered: 'none' } as const;

function shorten(value: JsonValue | undefined): string {
  const text = value === undefined ? '(absent)' : writeJson(value);
  return text.length > VALUE_MAX_CHARS ? `${text.slice(0, VALUE_MAX_CHARS)}…` : text;
}

const describe = ({ path, ours, theirs }: Difference): string =>
  `       ${path}: ${shorten(ours)} versus ${shorten(theirs)}\n`;

/** A call as a line, followed by its differences. */
export function describeRow({ plan, result }: Row): string {
  const why = result.reason === undefined ? '' : ` (${result.reason})`;
  const shown = result.differences.slice(0, SHOWN_MAX).map(describe).join('');
  const left = result.differences.length - SHOWN_MAX;
  const more = left > 0 ? `       … and ${left} more\n` : '';
  return `${marks[result.kind]} ${plan.method} ${plan.name} [${plan.by}]${why}\n${shown}${more}`;
}

/** Totals by result. */
export function describeTotal(rows: readonly Row[]): string {
  const count = (kind: keyof typeof marks): number =>
    rows.filter(({ result }) => result.kind === kind).length;
  const methods = new Set(rows.map(({ plan }) => plan.method)).size;
  const kinds = (['same', 'different', 'undecided', 'unanswered'] as const).map(
    (kind) => `${count(kind)} ${kind}`,
  );
  return `${rows.length} calls of ${methods} methods: ${kinds.join(', ')}\n`;
}

/** The run as JSON. */
export const reportJson = (rows: readonly Row[]): WritableJson =>
  rows.map(({ plan, result }) => ({
    method: plan.method,
    name: plan.name,
    params: plan.params,
    by: plan.by,
    verdict: result.kind,
    why: result.reason,
    differences: result.differences.map(({ path, ours, theirs }) => ({ path, ours, theirs })),
  }));
