import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPubsubRig, type PubsubRig, RawClient } from './pubsub-rig.ts';

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const INVALID_ID = { code: -32602, message: 'Invalid subscription id.' };

let rig: PubsubRig;
beforeAll(async () => {
  rig = await openPubsubRig();
});
afterAll(() => rig.close());

const slotSubscribe = '{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}';

describe('embedded ledger PubSub', () => {
  it('matches Agave byte for byte', async () => {
    const own = await openPubsubRig();
    const client = await own.client();
    client.send(slotSubscribe);
    expect(await client.text()).toBe('{"jsonrpc":"2.0","result":0,"id":1}');
    own.lab.freeze();
    expect(await client.text()).toBe(
      '{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"slot":2,"parent":1,"root":0},"subscription":0}}',
    );
    client.send('{"jsonrpc":"2.0","id":"x","method":"slotUnsubscribe","params":[0]}');
    expect(await client.text()).toBe('{"jsonrpc":"2.0","result":true,"id":"x"}');
    client.send('{"jsonrpc":"2.0","id":null,"method":"slotUnsubscribe","params":[0]}');
    expect(await client.text()).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid subscription id."},"id":null}',
    );
    await own.close();
  });

  it('accepts any path, no subprotocol and no compression', async () => {
    const client = await rig
      .client('/any/path?x=1', ['solana', 'other'], { perMessageDeflate: true })
      .catch((error: Error) => error);
    // A client that requires a subprotocol gives up.
    expect(String(client)).toContain('Server sent no subprotocol');
    const other = await rig.client('/any/path?x=1', [], { perMessageDeflate: true });
    expect(other.socket.extensions).toBe('');
    await other.close();
  });

  it('responds with 426 to an ordinary request', async () => {
    const pending = request({ port: rig.server.port, host: '127.0.0.1' }).end();
    const [response] = await once(pending, 'response');
    expect(response.statusCode).toBe(426);
    response.resume();
  });

  it('knows the PubSub methods and getVersion only', async () => {
    const client = await rig.client();
    expect(await client.call('getVersion')).toHaveProperty('solana-core');
    for (const method of ['getSlot', 'transactionSubscribe', 'constructor', 'slotNotification']) {
      expect(await client.call(method)).toEqual({ code: -32601, message: 'Method not found' });
    }
    await client.close();
  });

  it.each<[string, string | undefined, object]>([
    ['accountUnsubscribe', '[7777777]', INVALID_ID],
    ['accountUnsubscribe', '[18446744073709551615]', INVALID_ID],
    [
      'accountUnsubscribe',
      undefined,
      { code: -32602, message: 'Invalid params: invalid type: null, expected a tuple of size 1.' },
    ],
    [
      'accountUnsubscribe',
      '["0"]',
      { code: -32602, message: 'Invalid params: invalid type: string "0", expected u64.' },
    ],
    [
      'slotSubscribe',
      '[1]',
      {
        code: -32602,
        message: 'Invalid parameters: No parameters were expected',
        data: 'Array([Number(1)])',
      },
    ],
  ])('rejects %s of %s', async (method, params, error) => {
    const client = await rig.client();
    const given = params === undefined ? '' : `,"params":${params}`;
    client.send(`{"jsonrpc":"2.0","id":1,"method":"${method}"${given}}`);
    expect(await client.json()).toEqual({ jsonrpc: '2.0', error, id: 1 });
    await client.close();
  });

  it('answers a batch in one message and ignores calls without id', async () => {
    const client = await rig.client();
    client.send('{"jsonrpc":"2.0","method":"getVersion"}');
    client.send('[{"jsonrpc":"2.0","method":"getVersion"}]');
    client.send(
      '[{"jsonrpc":"2.0","id":5,"method":"getSlot"},{"jsonrpc":"2.0","method":"getVersion"},{},{"jsonrpc":"2.0","id":6,"method":"getVersion"}]',
    );
    expect(await client.json()).toMatchObject([{ id: 5 }, { id: null, error: { code: -32600 } }, { id: 6 }]);
    client.send('{"jsonrpc":"2.0","id":1');
    expect(await client.json()).toEqual({
      jsonrpc: '2.0',
      error: { code: -32700, message: 'Parse error' },
      id: null,
    });
    await client.close();
  });
});

describe('client message', () => {
  const padded = (bytes: number): string => slotSubscribe.padEnd(bytes);

  it('may have 4096 bytes', async () => {
    const client = await rig.client();
    client.send(padded(4096));
    expect(await client.json()).toMatchObject({ id: 1 });
    client.send(padded(4097));
    await client.closed;
  });

  it('may not be longer in fragments', async () => {
    const client = await rig.client();
    client.socket.send(padded(4000), { fin: false });
    client.socket.send(' '.repeat(97), { fin: true });
    await client.closed;
  });

  it('may be binary text', async () => {
    const client = await rig.client();
    client.send(Buffer.from(slotSubscribe));
    expect(await client.json()).toMatchObject({ id: 1 });
    client.send(Buffer.of(0xc3, 0x28));
    await client.closed;
  });

  it('closes the connection when it is not UTF-8', async () => {
    const client = await rig.client();
    client.socket.send(Buffer.of(0xc3, 0x28), { binary: false });
    expect(await client.closed).toBe(1007);
  });
});

describe('subscription id', () => {
  it('is shared by equal subscriptions', async () => {
    const [one, other] = await Promise.all([rig.client(), rig.client()]);
    const id = await one.call('accountSubscribe', [KEY]);
    expect(await other.call('accountSubscribe', [KEY, { commitment: 'finalized', encoding: 'binary' }])).toBe(
      id,
    );
    expect(await other.call('accountSubscribe', [KEY, { commitment: 'confirmed' }])).toBe(id + 1);
    expect(await other.call('accountUnsubscribe', [id])).toBe(true);
    expect(await other.call('accountUnsubscribe', [id])).toEqual(INVALID_ID);
    expect(await one.call('accountUnsubscribe', [id])).toBe(true);
    // After release, the next one gets a new id.
    expect(await one.call('accountSubscribe', [KEY])).toBe(id + 2);
    await Promise.all([one.close(), other.close()]);
  });

  it('differs for parameters without effect', async () => {
    const client = await rig.client();
    const id = await client.call('accountSubscribe', [KEY]);
    const sliced = { dataSlice: { offset: 0, length: 1 } };
    expect(await client.call('accountSubscribe', [KEY, sliced])).toBe(id + 1);
    expect(await client.call('accountSubscribe', [KEY, { dataSlice: [0, 1] }])).toBe(id + 1);
    expect(await client.call('accountSubscribe', [KEY, { minContextSlot: 5 }])).toBe(id);
    const programs = await client.call('programSubscribe', [KEY]);
    expect(await client.call('programSubscribe', [KEY, { withContext: true }])).toBe(programs + 1);
    expect(await client.call('programSubscribe', [KEY, { withContext: false }])).toBe(programs);
    expect(await client.call('programSubscribe', [KEY, sliced])).toBe(programs + 2);
    await client.close();
  });

  it('is shared within a connection with one stream, ended by one unsubscribe', async () => {
    const client = await rig.client();
    const id = await client.call('slotSubscribe');
    expect(await client.call('slotSubscribe')).toBe(id);
    rig.lab.freeze();
    await client.received(id);
    await client.silence();
    expect(await client.call('slotUnsubscribe', [id])).toBe(true);
    rig.lab.freeze();
    await client.silence();
    expect(await client.call('slotUnsubscribe', [id])).toEqual(INVALID_ID);
    await client.close();
  });

  it('is released when its connection closes', async () => {
    const [one, other] = await Promise.all([rig.client(), rig.client()]);
    const id = await one.call('logsSubscribe', ['all']);
    await one.close();
    let next = id;
    while (next === id) {
      next = await other.call('logsSubscribe', ['all']);
      if (next === id) await other.call('logsUnsubscribe', [next]);
    }
    expect(next).toBeGreaterThan(id);
    await other.close();
  });

  it('is sent before its notifications, even while slots freeze', async () => {
    const client = await rig.client();
    const batch = Array.from(
      { length: 30 },
      (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"slotSubscribe"}`,
    );
    for (let round = 0; round < 5; round++) {
      client.send(`[${batch.join(',')}]`);
      const first = client.json();
      let isAnswered = false;
      void first.then(() => {
        isAnswered = true;
      });
      while (!isAnswered) {
        rig.lab.freeze();
        await setImmediate();
      }
      const ids = (await first) as { result: number }[];
      expect(ids).toHaveLength(30);
      const id = ids[0]?.result as number;
      await client.received(id);
      client.send(`{"jsonrpc":"2.0","id":"end","method":"slotUnsubscribe","params":[${id}]}`);
      while ((await client.json()).id !== 'end');
    }
    await client.close();
  });
});

describe('PubSub limits', () => {
  it('reject excess subscriptions, counting each holder', async () => {
    const own = await openPubsubRig({ subscriptionsMax: 2 });
    const [one, other] = await Promise.all([own.client(), own.client()]);
    const refused = {
      code: -32603,
      message: 'Internal Error: Subscription refused. Node subscription limit reached',
    };
    const id = await one.call('slotSubscribe');
    expect(await other.call('slotSubscribe')).toBe(id);
    expect(await one.call('rootSubscribe')).toEqual(refused);
    await other.call('slotUnsubscribe', [id]);
    expect(await one.call('rootSubscribe')).toBe(id + 1);
    await own.close();
  });

  it('close excess connections unread', async () => {
    const own = await openPubsubRig({ connectionsMax: 1 });
    const client = await own.client();
    const socket = connect(own.server.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'close');
    await client.silence();
    await own.close();
  });

  it('disconnect a client that does not read', async () => {
    const own = await openPubsubRig({ queueMaxBytes: 4096 });
    const [slow, quick] = await Promise.all([own.client(), own.client()]);
    for (let count = 0; count < 20; count++) await slow.call('slotsUpdatesSubscribe');
    const id = await quick.call('rootSubscribe');
    slow.socket.pause();
    let isClosed = false;
    void slow.closed.then(() => {
      isClosed = true;
    });
    for (let slots = 0; slots < 5_000 && !isClosed; slots++) {
      own.lab.freeze();
      if (slots % 50 === 49) {
        await setImmediate();
        if (slots % 500 === 499) slow.socket.resume();
      }
    }
    expect(await slow.closed).toBe(1006);
    expect(await quick.received(id)).toBe(1);
    await own.close();
  });

  it('share time between clients with many small messages', async () => {
    const own = await openPubsubRig();
    const [flood, quick] = await Promise.all([own.client(), own.client()]);
    const messages = 8_000;
    for (let sent = 0; sent < messages; sent++) flood.send('{');
    let isOver = false;
    const flooding = (async () => {
      for (let got = 0; got < messages; got++) expect((await flood.json()).error.code).toBe(-32700);
      isOver = true;
    })();
    let calls = 0;
    for (; !isOver; calls++) await quick.call('getVersion');
    await flooding;
    // If the flood were answered without yielding, only one or two calls would get through.
    expect(calls).toBeGreaterThan(20);
    await own.close();
  });

  it('close all connections on shutdown', async () => {
    const own = await openPubsubRig();
    const client = await own.client();
    await client.call('slotSubscribe');
    await own.close();
    expect(await client.closed).toBe(1001);
    await expect(RawClient.open(own.server.port)).rejects.toThrow('ECONNREFUSED');
  });
});
