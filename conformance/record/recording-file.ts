import type { RecordedResponse, RecordedRow } from './record-cases.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Ordinary responses: status 200 and JSON, with a newline at the end. */
const isOrdinary = ({ status, headers, body }: RecordedResponse): boolean =>
  status === 200 && headers['content-type'] === JSON_TYPE && Object.keys(headers).length === 1 && body !== '';

/** One row a line; an ordinary response is its body. */
export const writeRecording = (rows: readonly RecordedRow[]): string =>
  rows
    .map(({ name, request, response }) =>
      JSON.stringify({ name, request, response: isOrdinary(response) ? response.body : response }),
    )
    .map((line) => `${line}\n`)
    .join('');

export function readRecording(text: string): RecordedRow[] {
  const rows = text.split('\n').filter((line) => line !== '');
  return rows.map((line) => {
    const { name, request, response } = JSON.parse(line) as {
      name: string;
      request: string;
      response: string | RecordedResponse;
    };
    if (typeof response !== 'string') return { name, request, response };
    return {
      name,
      request,
      response: { status: 200, headers: { 'content-type': JSON_TYPE }, body: response },
    };
  });
}
