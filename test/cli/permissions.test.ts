import { describe, expect, it } from 'vitest';
import { problemText } from '../../src/app/problem-text.ts';
import { listenAt } from '../../src/app/servers/listen.ts';

describe('an error about permission', () => {
  const denied = (details: object): Error =>
    Object.assign(new Error('denied'), { code: 'EACCES', ...details });

  it('names the path and the remedy', () => {
    const text = problemText(denied({ syscall: 'open', path: '/etc/solway/redis-ca.pem' }));
    expect(text).toMatch(
      /has no permission for \/etc\/solway\/redis-ca\.pem: change its owner or permissions/,
    );
    expect(text).not.toContain('data_dir');
  });

  it('names the address and the field', async () => {
    const place = {
      host: '0.0.0.0',
      port: 443,
      hostField: 'server.host',
      portOption: '--port',
      kind: 'port',
    };
    const listening = listenAt(place, () => Promise.reject(denied({ syscall: 'listen' })));
    await expect(listening).rejects.toThrow(
      /port 443 of 0\.0\.0\.0: choose a port above 1023 with --port, or .* CAP_NET_BIND_SERVICE/,
    );
  });
});
