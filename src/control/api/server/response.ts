import { securityHeaders } from '../../../protocol/security-headers.ts';
import { ApiError } from '../api-error.ts';
import type { ContractName } from '../contract/contract.ts';
import { mediaTypes, type RouteFormat } from '../contract/route.ts';

type HeaderMap = Readonly<Record<string, string>>;

/** Sent instead of an unexpected error, whose text could be confidential. */
const internalError = {
  status: 500,
  code: 'INTERNAL',
  message: 'Internal error. Try again; if it persists, tell the operator the request id.',
  fields: undefined,
  retryAfter: undefined,
};

export function problemResponse(thrown: unknown, requestId: string, headers: HeaderMap = {}): Response {
  const { status, code, message, fields, retryAfter } = thrown instanceof ApiError ? thrown : internalError;
  const error = { code, message, ...(fields && { fields }), requestId };
  const retryHeader = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return jsonResponse(status, { error }, { ...retryHeader, ...headers });
}

export const apiHeaders = securityHeaders.api;

const contentType = (format: RouteFormat): string => `${mediaTypes[format]}; charset=utf-8`;

export function jsonResponse(status: number, body: unknown, headers: HeaderMap): Response {
  return new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { ...apiHeaders, 'content-type': contentType('json'), ...headers },
  });
}

/** Writes each line of text as a `data:` line, because a blank line would end the event. */
function eventOf(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${lines.join('')}\n`;
}

/** RFC 4180 requires CRLF for CSV. Documents are sent unchanged, because they are signed. */
const LINE_ENDS = { csv: '\r\n', jsonl: '\n', document: '', text: '\n' } as const;

export type StreamFormat = Exclude<RouteFormat, 'json'>;

type StreamOptions = Readonly<{
  format: StreamFormat;
  heartbeatMs: number;
  /** Called once when the stream ends, for any reason. */
  onEnd: () => void;
  /** Called for errors after the response headers have been sent. */
  onError: (thrown: unknown) => void;
}>;

export function streamOf(lines: AsyncIterable<string>, options: StreamOptions): ReadableStream<Uint8Array> {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const { format, heartbeatMs, onEnd, onError } = options;
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    if (timer !== null) clearInterval(timer);
    onEnd();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (format !== 'events') return;
      controller.enqueue(encoder.encode(': here\n\n'));
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': still here\n\n'));
      }, heartbeatMs);
    },
    async pull(controller) {
      try {
        const { value, done } = await iterator.next();
        if (isOver) return;
        if (done === true) {
          end();
          controller.close();
          return;
        }
        const text = format === 'events' ? eventOf(value) : `${value}${LINE_ENDS[format]}`;
        controller.enqueue(encoder.encode(text));
      } catch (thrown) {
        if (isOver) return;
        end();
        onError(thrown);
        controller.error(new Error('the response was aborted'));
      }
    },
    async cancel() {
      end();
      await iterator.return?.();
    },
  });
}

export const streamHeaders = (name: ContractName, format: StreamFormat, requestId: string): HeaderMap => ({
  ...apiHeaders,
  'content-type': contentType(format),
  'x-request-id': requestId,
  ...(format === 'events'
    ? { 'x-accel-buffering': 'no' }
    : { 'content-disposition': `attachment; filename="solway-${name.split('/').at(-1)}"` }),
});
