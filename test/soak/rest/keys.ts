import { runSolway } from '../../cli/run-solway.ts';
import { eventually } from '../../service/eventually.ts';
import { temporaryFolder } from '../../service/program.ts';
import type { RunningService } from '../../service/start-service.ts';

async function makeKey(service: RunningService, name: string): Promise<string> {
  const where = ['--json', '--data-dir', service.dataDir, '--config', service.config];
  const { code, out, err } = await runSolway(temporaryFolder('keys'), [
    'keys',
    'create',
    '--name',
    name,
    ...where,
  ]);
  if (code !== 0) throw new Error(`no key was made: ${err}`);
  return (JSON.parse(out) as { secret: string }).secret;
}

/** The service's own key and others, once they are in force. */
export async function makeKeys(service: RunningService, count: number): Promise<string[]> {
  const keys = [service.key];
  while (keys.length < count) keys.push(await makeKey(service, `soak ${keys.length}`));
  for (const key of keys) {
    const send = () => fetch(`${service.ready.url}/sol/v1/wallet/balance`, { headers: { 'x-api-key': key } });
    await eventually(async () => (await send()).status === 400, 'the key is let in');
  }
  return keys;
}
