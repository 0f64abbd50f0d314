import { afterAll, beforeAll, expect, it } from 'vitest';
import { rawSocket } from './raw-socket.ts';
import { type RunningService, startService } from './start-service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

it('returns the same refusals of malformed requests under /ipfs/ as under /sol/', async () => {
  for (const path of ['/ipfs/x', '/sol/v1/wallet/balance']) {
    const wire = await rawSocket(service.ready.url);
    wire.write(`GET ${path} HTTP/1.1\r\n\r\n`);
    const [, body = ''] = (await wire.closed).split('\r\n\r\n');
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'MALFORMED_HTTP' } });
  }
});
