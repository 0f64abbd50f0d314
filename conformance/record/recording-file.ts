import type { RecordedResponse, RecordedRow } from './record-cases.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Ordinary responses: status 200 and JSON, with a newline at the end. */
const isOrdinary = ({ status, headers, body }: RecordedResponse): boolean =>
  status === 200 && headers['content-type'] === JSON_TYPE && Object.keys(headers).length === 1 && body !== '';

/** One row a line; an ordinary response is its body. A response that an earlier row has is named by that row. */
export function writeRecording(rows: readonly RecordedRow[]): string {
  const first = new Map<string, string>();
  const lines = rows.map(({ name, request, response }) => {
    const text = JSON.stringify(isOrdinary(response) ? response.body : response);
    const same = first.get(text);
    if (same === undefined) first.set(text, name);
    if (same !== undefined && text.length > SAME_MIN_CHARS) return JSON.stringify({ name, request, same });
    return JSON.stringify({ name, request, response: isOrdinary(response) ? response.body : response });
  });
  return lines.map((line) => `${line}\n`).join('');
}

const SAME_MIN_CHARS = 100;

export function readRecording(text: string): RecordedRow[] {
  const read = new Map<string, RecordedResponse>();
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { name, request, response, same } = JSON.parse(line) as Line;
    const full =
      typeof response === 'string'
        ? { status: 200, headers: { 'content-type': JSON_TYPE }, body: response }
        : (response ?? read.get(same ?? ''));
    if (full === undefined) throw new Error(`"${name}" has no response`);
    read.set(name, full);
    return { name, request, response: full };
  });
}

type Line = Readonly<{
  name: string;
  request: string;
  response?: string | RecordedResponse;
  /** Row with the same response. */
  same?: string;
}>;
