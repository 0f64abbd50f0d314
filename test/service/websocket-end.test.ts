import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { failures } from '../../src/protocol/errors.ts';
import { SocketClient } from './socket-client.ts';
import { startService } from './start-service.ts';

it('SIGTERM closes WebSockets with 1012, and stores their usage', async () => {
  const service = await startService();
  const client = await SocketClient.open(`${service.ready.wsUrl}?api-key=${service.key}`);
  const id = await client.result<number>('slotSubscribe');
  let bytes = 0;
  let messages = 0;
  client.socket.on('message', (data) => {
    if (!String(data).includes('"method"')) return;
    messages++;
    bytes += String(data).length;
  });
  for (let observed = 0; observed < 5; observed++) await client.next(id);
  await client.result('getSlot');
  const stopped = service.stop();
  expect(await client.ended).toMatchObject({ code: 1012, reason: `DRAINING: ${failures.DRAINING.text}` });
  expect(await stopped).toBe(0);
  const store = await openDatabase({ file: join(service.dataDir, 'solway.db') });
  const rows = await store.db.selectFrom('usage_minute').selectAll().execute();
  await store.close();
  const sum = (method: string, field: 'requests' | 'messages' | 'bytes_out' | 'bytes_in') =>
    rows.filter((row) => row.method === method).reduce((total, row) => total + row[field], 0);
  expect(sum('slotSubscribe', 'requests')).toBe(1);
  expect(sum('slotSubscribe', 'bytes_in')).toBeGreaterThan(20);
  expect(sum('getSlot', 'requests')).toBe(1);
  // One may have arrived before the listener was attached.
  expect(sum('notifications', 'messages')).toBeGreaterThanOrEqual(messages);
  expect(sum('notifications', 'bytes_out')).toBeGreaterThanOrEqual(bytes);
  expect(sum('notifications', 'messages')).toBeGreaterThanOrEqual(5);
  expect(new Set(rows.map((row) => row.key_id))).toEqual(
    new Set([service.ready.keys.find(({ product }) => product === 'rpc')?.id]),
  );
});
