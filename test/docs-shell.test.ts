import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { genesisHashes } from '../src/upstream/genesis-hash.ts';
import { runHere } from './cli/run-solway.ts';
import { blocks, pages } from './project/pages.ts';
import { eventually } from './service/eventually.ts';
import { keysCommand } from './service/keys-command.ts';
import { operatorApi } from './service/operator-token.ts';
import { type RunningService, startService } from './service/start-service.ts';
import { reporting } from './upstream/mock/behaviors.ts';
import { type MockNode, startMock } from './upstream/mock/server.ts';

const CONFIGURATION = `[networks]
default = "mainnet-beta"
[plans.free]
name = "Free"
[plans.pro]
name = "Pro"
`;

/** Commands that use a running service or its data folder; others install software or start a service. */
const PREFIX = 'runuser -u solway -- |npm run |SOLWAY_TOKEN=\\S+ ';
const OTHER = 'up\\b|localnet\\b|db move\\b|--';
const COMMAND = new RegExp(`^(?:${PREFIX})?solway (?:-- )?(?!${OTHER})|^curl .*solway\\.example`, 'm');

const snippets = pages.flatMap((page) =>
  blocks(page, 'sh')
    .filter((code) => COMMAND.test(code) && !/\bdocker\b/.test(code))
    .map((code) => ({ page, code })),
);

describe('commands of the documentation, run beside a service', () => {
  const nodes: MockNode[] = [];
  const keyIds = new Map<string, string>();
  const commands = createServer(async (request, response) => {
    const args = (await text(request)).split('\n').slice(0, -1);
    const { code, out, err } = await runHere(folder, args, environment);
    response.writeHead(code === 0 ? 200 : 500).end(out + err);
  });
  let service: RunningService;
  let folder = '';
  let environment: Record<string, string> = {};
  let customerId = '';

  beforeAll(async () => {
    const genesis = genesisHashes['mainnet-beta'];
    for (let count = 0; count < 2; count++) {
      nodes.push(await startMock(reporting({ genesis })));
    }
    const node = `[[upstream]]\nname = "own-1"\nurl = "${nodes[0]!.url}"\nws = "off"\n`;
    service = await startService({ configuration: CONFIGURATION + node });
    folder = dirname(service.config);
    mkdirSync(join(folder, 'new-folder'));
    const { secret, sendRequest } = await operatorApi(service.ready.url, service.dataDir);
    customerId = (await sendRequest<{ id: string }>('POST', '/customers', { name: 'Shop' })).id;
    environment = {
      ...{ SOLWAY_DATA_DIR: service.dataDir, SOLWAY_TOKEN: secret },
      ...{ SECOND_URL: nodes[1]!.url, SECOND_TOKEN: 'token' },
    };
    await once(commands.listen(join(folder, 'commands')), 'listening');
  });
  afterAll(async () => {
    commands.close();
    await service?.stop();
    await Promise.all(nodes.map((node) => node.close()));
  });

  /** Replaces what a reader replaces, and what belongs to the machine. */
  const filledIn = async (page: string, code: string): Promise<string> => {
    if (code.includes('7hQ2mKpZ') && !keyIds.has(page)) {
      keyIds.set(page, (await keysCommand(service, 'create', '--name', 'x')).key.id);
    }
    return code
      .replaceAll('7hQ2mKpZ', keyIds.get(page) ?? '')
      .replaceAll('CUSTOMER_ID', customerId)
      .replaceAll('https://solway.example.com', service.ready.url)
      .replaceAll('/var/lib/solway', service.dataDir)
      .replaceAll(/\/etc\/solway\b|\/var\/backups\b|\/secure\b/g, folder)
      .replaceAll(new RegExp(`^(?:${PREFIX})(?=solway)`, 'gm'), '')
      .replaceAll(/^solway -- /gm, 'solway ')
      .replaceAll(/^systemctl .*$/gm, '')
      .replaceAll(/^curl /gm, 'curl --fail-with-body -sS ');
  };

  // Commands run in the process of the test, which takes a tenth of the time.
  const SOLWAY = `solway() {
    printf '%s\\n' "$@" | curl --fail-with-body -sS --unix-socket commands --data-binary @- http://test >output ||
      { cat output >&2; return 1; }
    cat output
  }`;

  it('are found', () => {
    expect(snippets.length).toBeGreaterThan(20);
  });

  const gatewayHasSecondNode = async (): Promise<boolean> =>
    /^second .*(?<!no gateway)$/m.test((await runHere(folder, ['upstream', 'list'], environment)).out);

  it.each(snippets)('succeed: $page', async ({ page, code }) => {
    // Gateways apply a new node within two seconds.
    if (code.includes('drain second')) await eventually(gatewayHasSecondNode, 'a gateway has the node');
    const script = `${SOLWAY}\n${await filledIn(page, code)}`;
    const options = { cwd: folder, env: { ...process.env, ...environment } };
    const { stdout } = await promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], options);
    expect(stdout).not.toBe('');
  });
});
