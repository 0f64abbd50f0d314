import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { encodeFrame } from '../../../src/protocol/grpc/frames.ts';
import { NONE, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

/** Requests on a stream: whole, changed, truncated, in chunks of any size. */
const request = encodeSubscribeRequest({ slots: new Map([['s', {}]]), ping: 3 });
const bytesOf = fc
  .tuple(
    fc.array(fc.oneof(fc.constant(request), fc.uint8Array({ maxLength: 60 })), { maxLength: 5 }),
    fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 3 }),
  )
  .map(([messages, changes]) => {
    const bytes = Buffer.concat(messages.map(encodeFrame));
    for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
    return bytes;
  });

let stage: TestGrpcServer;
beforeAll(async () => {
  stage = await new TestGrpcServer().listen();
});
afterAll(() => stage.stop());

describe('a server that receives arbitrary bytes', () => {
  it('ends each stream with a status, keeps none open, and continues', async () => {
    const session = stage.session();
    await once(session, 'connect');
    const sent = fc.tuple(bytesOf, fc.integer({ min: 1, max: 40 }), fc.constantFrom('end', 'cancel'));
    await fc.assert(
      fc.asyncProperty(sent, async ([bytes, size, ending]) => {
        const call = stage.call(SUBSCRIBE, {}, session);
        for (let at = 0; at < bytes.length; at += size) {
          call.stream.write(bytes.subarray(at, at + size));
          if (at % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        if (ending === 'cancel') {
          // Node's client may wait forever for the end of a stream that both sides cancel at once.
          call.cancel();
          return;
        }
        call.end();
        await call.until(() => call.messages.length > 0 || call.isClosed);
        for (const { sink } of stage.opened) sink.end({ code: 'OK', message: '' });
        expect((await call.ended())['grpc-status']).toMatch(/^\d+$/);
      }),
      { numRuns: 50 },
    );
    const after = stage.call('/geyser.Geyser/GetSlot', {}, session).end(NONE);
    expect(await after.ended()).toMatchObject({ 'grpc-status': '0' });
    for (const stream of stage.opened) await stream.until(({ closed }) => closed === 1);
    expect(await stage.server.drain(5_000)).toBe(true);
    expect([stage.server.connections, stage.server.streams, stage.server.queuedBytes]).toEqual([0, 0, 0]);
    expect(stage.lines).toEqual([]);
  });
});
