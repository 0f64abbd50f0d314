import { securityHeaders } from '../../../protocol/security-headers.ts';
import { ApiError } from '../api-error.ts';
import type { RouteFormat } from '../contract/route.ts';

type ProblemJson = Readonly<{
  error: Readonly<{
    code: string;
    message: string;
    fields?: Readonly<Record<string, string>>;
    requestId: string;
  }>;
}>;

/** Never contains the caught error. */
const INTERNAL = 'Internal error. Try again; if it persists, tell the operator the request id.';

export function problemOf(thrown: unknown, requestId: string) {
  if (!(thrown instanceof ApiError)) {
    const error = { code: 'INTERNAL', message: INTERNAL, requestId };
    return { status: 500, headers: {}, body: { error } satisfies ProblemJson };
  }
  const { code, message, fields, retryAfter, status } = thrown;
  const error = { code, message, ...(fields && { fields }), requestId };
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return { status, headers, body: { error } satisfies ProblemJson };
}

export const apiHeaders = securityHeaders.api;

const types: Readonly<Record<RouteFormat, string>> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  events: 'text/event-stream; charset=utf-8',
};

export function jsonResponse(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Response {
  return new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { ...apiHeaders, 'content-type': types.json, ...headers },
  });
}

/** One `data:` line per line of text, because a blank line would end the event. */
const eventOf = (text: string): string =>
  `${text
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}`)
    .join('\n')}\n\n`;

/** RFC 4180 requires CRLF. */
const LINE_ENDS = { csv: '\r\n', jsonl: '\n' } as const;

type StreamOptions = Readonly<{
  format: Exclude<RouteFormat, 'json'>;
  heartbeatMs: number;
  /** Called once when the stream ends for any reason. */
  onEnd: () => void;
  /** For errors after the response headers. */
  onError: (thrown: unknown) => void;
}>;

function bytesOf(lines: AsyncIterable<string>, options: StreamOptions): ReadableStream<Uint8Array> {
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
        if (done !== true) {
          controller.enqueue(
            encoder.encode(format === 'events' ? eventOf(value) : `${value}${LINE_ENDS[format]}`),
          );
          return;
        }
        end();
        controller.close();
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

type HeaderMap = Readonly<Record<string, string>>;

const streamHeaders = (format: StreamOptions['format'], headers: HeaderMap): HeaderMap => ({
  ...apiHeaders,
  'content-type': types[format],
  ...(format === 'events' && { 'x-accel-buffering': 'no' }),
  ...headers,
});

export function streamResponse(
  lines: AsyncIterable<string>,
  headers: HeaderMap,
  options: StreamOptions,
): Response {
  return new Response(bytesOf(lines, options), { headers: streamHeaders(options.format, headers) });
}

export const streamHead = (format: StreamOptions['format'], headers: HeaderMap): Response =>
  new Response(null, { headers: streamHeaders(format, headers) });
