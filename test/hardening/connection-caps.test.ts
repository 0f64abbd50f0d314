import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { noProxies, TrustedProxies } from '../../src/servers/client-address.ts';
import { ConnectionCaps } from '../../src/servers/connection-caps.ts';
import { rawPost, startHttpServer, type TestHttpServer } from '../servers/start-http-server.ts';
import { call } from './raw-calls.ts';

describe.each([{ raw: true }, { raw: false }])('connections of one address, fast path: $raw', ({ raw }) => {
  let server: TestHttpServer;
  afterEach(() => server.stop());

  const answered = async () => {
    const client = server.connect();
    client.socket.write(rawPost(server.createKey(), call('getSlot')));
    await client.until(/"id":1}\n$/);
    return client;
  };

  it('are limited: an excess connection is closed unread until another one closes', async () => {
    server = await startHttpServer({ raw, connectionsPerAddressMax: 2, connectionsExempt: [] });
    const [first] = await Promise.all([answered(), answered()]);
    const third = server.connect();
    third.socket.write(rawPost(server.createKey(), call('hidden')));
    expect(await third.ended()).toBe('');
    expect(server.http.connectionsRefused).toBe(1);
    expect(server.calls.map((entry) => entry.call.method)).toEqual(['getSlot', 'getSlot']);
    first?.socket.destroy();
    const health = async () =>
      (await fetch(`http://127.0.0.1:${server.port}/health`).catch(() => null))?.status;
    await expect.poll(health).toBe(200);
  });
});

/** A mock socket with any remote address, because the machine has no others to connect from. */
class From extends EventEmitter {
  readonly remoteAddress: string;
  isReset = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  resetAndDestroy(): void {
    this.isReset = true;
    this.emit('close');
  }
}

describe('addresses', () => {
  const caps = () =>
    new ConnectionCaps({ connectionsPerAddressMax: 2, connectionsExempt: ['::1'] }, noProxies);
  const take = (counted: ConnectionCaps, address: string): boolean =>
    counted.accept(new From(address) as unknown as Socket);

  it('are counted per IPv6 /64 and per IPv4 address, in any notation', () => {
    const counted = caps();
    expect(
      ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3', '2001:db8:0:1::4'].map((address) =>
        take(counted, address),
      ),
    ).toEqual([...[true, true, false, true]]);
    expect(
      ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) => take(counted, address)),
    ).toEqual([...[true, true, false, true]]);
    expect(counted.rejected).toBe(2);
  });

  it('are forgotten when their last connection closes', async () => {
    const counted = caps();
    const socket = new From('192.0.2.1');
    expect(counted.accept(socket as unknown as Socket)).toBe(true);
    expect(counted.subnets).toBe(1);
    const closed = once(socket, 'close');
    socket.emit('close');
    await closed;
    expect(counted.subnets).toBe(0);
  });

  it('are not counted if exempt, closed or of a trusted proxy', () => {
    const counted = caps();
    expect(['::1', '::1', '::1', '', ''].map((address) => take(counted, address))).toEqual(
      Array(5).fill(true),
    );
    expect([counted.subnets, counted.rejected]).toEqual([0, 0]);
    const limits = { connectionsPerAddressMax: 0, connectionsExempt: [] };
    const behindProxy = new ConnectionCaps(limits, new TrustedProxies({ trustedProxies: ['192.0.2.9'] }));
    expect(['192.0.2.9', '192.0.2.8'].map((address) => take(behindProxy, address))).toEqual([true, false]);
  });
});
