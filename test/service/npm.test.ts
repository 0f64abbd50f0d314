import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRunning, temporaryFolder } from './program.ts';

/** The README's command, as a service manager runs it. */
const root = join(import.meta.dirname, '..', '..');

describe('npm start', () => {
  it('forwards SIGTERM: the service drains and nothing keeps running', async () => {
    const ports = ['--port', '0', '--grpc-port', '0'];
    const args = ['start', '--', '--json', ...ports, '--data-dir', temporaryFolder('npm')];
    const npm = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    npm.stderr.on('data', (chunk) => (log += chunk));
    const ready = new Promise<string>((resolve) => {
      let out = '';
      npm.stdout.on('data', (chunk) => {
        out += chunk;
        const line = out.split('\n').find((one) => one.startsWith('{"event":"ready"'));
        if (line !== undefined) resolve(line);
      });
    });
    const { url } = JSON.parse(await ready) as { url: string };
    expect((await fetch(`${url}/health`)).status).toBe(200);
    npm.kill('SIGTERM');
    await once(npm, 'close');
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    expect(log).toContain('Stopped');
    expect(isRunning(npm.pid!)).toBe(false);
  });
});
