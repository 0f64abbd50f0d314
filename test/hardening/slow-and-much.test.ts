import { afterEach, describe, expect, it } from 'vitest';
import { type RawClient, rawPost, type TestHttpServer } from '../servers/start-http-server.ts';
import { call, serverVariants, statuses } from './server-variants.ts';

const TIME_MS = 300;

/** Sends bytes one by one until the server closes. */
function drip(wire: RawClient, bytes: () => string): void {
  const timer = setInterval(() => {
    if (wire.socket.destroyed) clearInterval(timer);
    else wire.socket.write(bytes());
  }, 10);
  wire.socket.once('close', () => clearInterval(timer));
}

describe.each(serverVariants)('the %s server', (_name, open) => {
  let server: TestHttpServer;
  afterEach(() => server.stop());

  it('times out heads and bodies sent byte by byte, and serves others meanwhile', async () => {
    server = await open({ headersTimeoutMs: TIME_MS, requestTimeoutMs: TIME_MS });
    const key = server.createKey();
    const starts = [
      ...Array<string>(10).fill('POST /v1/rpc HTTP/1.1\r\nhost: x\r\nx-long: '),
      ...Array<string>(10).fill(rawPost(key, '').replace('content-length: 0', 'content-length: 100000')),
      ...Array<string>(10).fill(
        `${rawPost(key, '').replace('content-length: 0', 'transfer-encoding: chunked')}fffff\r\n`,
      ),
    ];
    const wires = starts.map((start) => {
      const wire = server.connect();
      wire.socket.write(start);
      drip(wire, () => 'a');
      return wire;
    });
    const slow = Promise.all(wires.map((wire) => wire.ended()));
    let served = 0;
    let isOver = false;
    void slow.then(() => (isOver = true));
    while (!isOver) {
      expect((await server.post(call('getSlot'), key)).status).toBe(200);
      served += 1;
    }
    for (const received of await slow) expect([[408], []]).toContainEqual(statuses(received));
    expect(served).toBeGreaterThan(0);
    await expect.poll(() => server.http.inFlight).toBe(0);
  });

  it('refuses header floods by their bytes, and drops no header silently', async () => {
    server = await open();
    const key = server.createKey();
    const flood = (count: number): string =>
      Array.from({ length: count }, () => 'a:b\r\n')
        .join('')
        .slice(0, -2);
    const few = server.connect();
    few.socket.write(rawPost(key, call('getSlot'), `${flood(2_500)}\r\nhost: y\r\nconnection: close\r\n`));
    expect(statuses(await few.ended())).toEqual([400]);
    const many = server.connect();
    many.socket.write(rawPost(key, call('getSlot'), `${flood(10_000)}\r\n`));
    expect(statuses(await many.ended())).toEqual([431]);
    const long = server.connect();
    long.socket.write(`GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(statuses(await long.ended())).toEqual([431]);
    expect(server.calls).toEqual([]);
  });

  it.each(['gzip', 'gzip, identity'])(
    'refuses a body compressed with %s before reading it',
    async (coding) => {
      server = await open();
      const wire = server.connect();
      const extra = `content-encoding: ${coding}\r\nconnection: close\r\n`;
      const announced = rawPost(server.createKey(), '', extra).replace(
        'content-length: 0',
        'content-length: 900000',
      );
      wire.socket.write(announced);
      const received = await wire.until(/\n$/);
      expect(statuses(received)).toEqual([415]);
      expect(received).toContain('"ENCODED_BODY"');
      wire.socket.destroy();
      expect(server.calls).toEqual([]);
    },
  );
});
