import type { LiveStream } from './live-stream.ts';

type Rejection = Readonly<{ error?: { code?: string | number; message?: string } }>;

const rejectionOf = (line: string): string | undefined => (JSON.parse(line) as Rejection).error?.message;

async function readLines(body: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  let rest = '';
  for await (const text of body.pipeThrough(
    new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
  )) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') onLine(line);
  }
}

/** Opens a gRPC stream through its HTTP form: each line of the response is a message. */
export async function openGrpcStream(
  stream: LiveStream,
  credential: string,
  path: string,
  body: string,
): Promise<void> {
  const abort = new AbortController();
  stream.closeTransport = () => abort.abort();
  const response = await fetch(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    credentials: 'omit',
    body,
    signal: abort.signal,
  });
  if (!response.ok || response.body === null) {
    const rejection = rejectionOf(await response.text());
    stream.close(rejection ?? `The service responded with HTTP status ${response.status}.`, true);
    return;
  }
  stream.open('Waiting for messages.');
  const reading = readLines(response.body, (line) => {
    const rejection = rejectionOf(line);
    if (rejection === undefined) stream.push(line);
    else stream.close(rejection, true);
  });
  reading.then(
    () => stream.close('The stream ended.'),
    () => stream.close('The connection was lost.', true),
  );
}
