import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { OidcProvider } from './account-options.ts';
import { discover } from './oidc-discovery.ts';

const PIECE = ' '.repeat(65_536);
/** Less than a loopback connection carries before the timeout. */
const SENT_MAX_BYTES = 20 * 1024 * 1024;

it('reads no more of a discovery document than one may have', async () => {
  let sent = 0;
  const server = createServer((_, response) => {
    const send = (): void => {
      do sent += PIECE.length;
      while (response.write(PIECE));
      response.once('drain', send);
    };
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const discoveryUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await discover({ discoveryUrl } as OidcProvider)).toBeNull();
  expect(sent).toBeLessThan(SENT_MAX_BYTES);
});
