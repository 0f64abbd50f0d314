import { closeSync, constants, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { hasLedger, readGenesis } from '../../../packages/localnet/src/genesis/ledger-dir.ts';
import type { Configuration } from '../../config/configuration.ts';
import { problemText } from '../problem-text.ts';
import { ledgerFolder } from '../process/data-dir.ts';
import { checkPortFree, checkUdpPortFree, type ListenAddress, ListenError } from '../servers/listen.ts';
import { grpcListenAddress, httpListenAddress, shredsListenAddress } from '../servers/listen-addresses.ts';
import { grpcTlsFiles, httpTlsFiles, readTls, type TlsFiles, validityOf } from '../servers/tls-files.ts';
import { openLogFile } from '../telemetry/log-output.ts';
import { hasUdp } from '../upstreams/shreds.ts';
import { type Finding, runCheck } from './check.ts';

/** Opens the log file as a start would. */
export async function checkLogFile({ log: { file } }: Configuration): Promise<Finding[]> {
  if (file === null) return [];
  return [
    await runCheck('log file', () => {
      closeSync(openLogFile(file));
      return `${file} can be written`;
    }),
  ];
}

/** A port is taken while the service runs. */
async function checkListenAddress(
  subject: string,
  address: ListenAddress,
  check: (address: ListenAddress) => Promise<void>,
): Promise<Finding> {
  const { host, port } = address;
  try {
    await check(address);
    const text = port === 0 ? `any free port of ${host} will do` : `${port} of ${host} is free`;
    return { subject, verdict: 'good', text };
  } catch (error) {
    const isTaken = error instanceof ListenError && error.isTaken;
    if (!isTaken) return { subject, verdict: 'bad', text: problemText(error) };
    const text = `${port} of ${host} is taken: if Solway is not running, stop what listens there or choose another`;
    return { subject, verdict: 'warning', text };
  }
}

/** Whether the doors can be opened, and shreds can come in. */
export async function checkPorts(configuration: Configuration, isDevelopment: boolean): Promise<Finding[]> {
  const http = await checkListenAddress('port', httpListenAddress(configuration), checkPortFree);
  if (!configuration.grpc.enabled) return [http];
  const grpc = await checkListenAddress('gRPC port', grpcListenAddress(configuration), checkPortFree);
  if (!hasUdp(configuration, isDevelopment)) return [http, grpc];
  return [
    http,
    grpc,
    await checkListenAddress('UDP port of shreds', shredsListenAddress(configuration), checkUdpPortFree),
  ];
}

/** A certificate that ends within so many days is worth a word. */
const EXPIRY_NOTICE_MS = 14 * 86_400_000;

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

/** Whether a certificate and its key belong together, and are good for some time yet. */
async function checkCertificate(subject: string, files: TlsFiles): Promise<Finding> {
  let validity = { from: new Date(0), to: new Date(0) };
  const found = await runCheck(subject, () => {
    validity = validityOf(readTls(files));
    return `good until ${dayOf(validity.to)}`;
  });
  const { from, to } = validity;
  const now = Date.now();
  if (found.verdict === 'bad') return found;
  const renew = 'renew it, and the service takes the new one when its files change, or on SIGHUP';
  if (to.getTime() <= now) return { subject, verdict: 'bad', text: `ended on ${dayOf(to)}: ${renew}` };
  if (from.getTime() > now)
    return { subject, verdict: 'bad', text: `is good from ${dayOf(from)} on, and not before` };
  if (to.getTime() > now + EXPIRY_NOTICE_MS) return found;
  return { subject, verdict: 'warning', text: `ends on ${dayOf(to)}: ${renew}` };
}

/** Whether the certificates of the doors that have one are good. */
export async function checkTls(configuration: Configuration): Promise<Finding[]> {
  const certificates = [
    ['certificate', httpTlsFiles(configuration)],
    ['gRPC certificate', grpcTlsFiles(configuration)],
  ] as const;
  const findings = certificates.map(([subject, files]) =>
    files === null ? null : checkCertificate(subject, files),
  );
  return (await Promise.all(findings)).filter((found) => found !== null);
}

/** The living process that says it has the ledger open; null when there is none. Takes nothing over. */
function ledgerHolder(folder: string): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(join(folder, 'ledger.lock'), 'utf8')) as { pid: number };
    process.kill(pid, 0);
    return pid;
  } catch {
    return null;
  }
}

async function describeLedger(folder: string, slotMs: number): Promise<string> {
  if (!hasLedger(folder)) return `a new one will answer, a slot every ${slotMs} ms`;
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  return `${folder} goes on as genesis ${readGenesis(folder, slotMs).hash}, a slot every ${slotMs} ms`;
}

/** Whether the embedded ledger can be opened. Does not open it. */
export async function checkLedger(configuration: Configuration): Promise<Finding[]> {
  const subject = 'embedded ledger';
  const folder = ledgerFolder(configuration.dataDir);
  const found = await runCheck(subject, () => describeLedger(folder, configuration.localnet.slotMs));
  const holder = ledgerHolder(folder);
  if (found.verdict === 'bad' || holder === null) return [found];
  const text = `process ${holder} has ${folder} open: if Solway is not running, end that process`;
  return [{ subject, verdict: 'warning', text }];
}
