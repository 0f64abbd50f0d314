import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/**
 * A strict schema. Source: opentelemetry-proto, trace.proto, and OTLP/HTTP, "JSON Protobuf Encoding": ids in hex,
 * 64-bit numbers as text, and no unknown members.
 */
const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  ]),
});
const nanos = z.string().regex(/^\d{19}$/);
const span = z
  .strictObject({
    traceId: z.string().regex(/^(?!0+$)[0-9a-f]{32}$/),
    spanId: z.string().regex(/^(?!0+$)[0-9a-f]{16}$/),
    parentSpanId: z
      .string()
      .regex(/^(?!0+$)[0-9a-f]{16}$/)
      .optional(),
    name: z.string().min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes: z.array(attribute),
    status: z.strictObject({ code: z.literal(2).optional(), message: z.string().optional() }),
  })
  .refine(({ startTimeUnixNano, endTimeUnixNano }) => BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano));
const message = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes: z.array(attribute).min(1) }),
        scopeSpans: z.array(
          z.strictObject({ scope: z.object({ name: z.string() }), spans: z.array(span).min(1) }),
        ),
      }),
    )
    .min(1),
});

export type ReceivedSpan = z.infer<typeof span>;

/** A trace collector on a free port that accepts only what the protocol allows. */
export type Collector = Readonly<{
  url: string;
  spans: ReceivedSpan[];
  /** Errors in requests. */
  faults: string[];
  headers: IncomingMessage['headers'][];
  bodies: string[];
  answer(status: number): void;
  close(): Promise<void>;
}>;

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const faults: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const bodies: string[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    const read = message.safeParse(JSON.parse(body));
    const isValid =
      request.method === 'POST' &&
      request.url === '/v1/traces' &&
      request.headers['content-type'] === 'application/json';
    if (!isValid) faults.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
    if (!read.success) faults.push(read.error.message);
    headers.push(request.headers);
    bodies.push(body);
    if (status === 200 && read.success) {
      for (const { scopeSpans } of read.data.resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  const answer = (next: number): void => {
    status = next;
  };
  return { url: `http://127.0.0.1:${port}`, spans, faults, headers, bodies, answer, close };
}
