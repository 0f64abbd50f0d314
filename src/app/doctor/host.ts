import { closeSync, constants, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { hasLedger, readGenesis } from '../../../packages/localnet/src/genesis/ledger-dir.ts';
import type { Configuration } from '../../config/configuration.ts';
import { errorText, ledgerErrorText } from '../error-text.ts';
import { ledgerDir } from '../process/data-dir.ts';
import {
  checkPortFree,
  checkUdpPortFree,
  grpcListenAddress,
  httpListenAddress,
  type ListenAddress,
  ListenError,
  shredsListenAddress,
} from '../servers/listen.ts';
import { grpcTlsFiles, httpTlsFiles, readTls, type TlsFiles, validityOf } from '../servers/tls-files.ts';
import { openLogFile } from '../telemetry/log-output.ts';
import { hasUdp } from '../upstreams/shreds.ts';
import { bad, type Finding, good, runCheck, warning } from './check.ts';

export async function checkLogFile({ log: { file } }: Configuration): Promise<Finding[]> {
  if (file === null) return [];
  return [
    await runCheck('log file', () => {
      closeSync(openLogFile(file));
      return `${file} is writable`;
    }),
  ];
}

/** A port in use is only a warning, because a running Solway may use it. */
async function checkListenAddress(
  subject: string,
  address: ListenAddress,
  check: (address: ListenAddress) => Promise<void>,
): Promise<Finding> {
  const { host, port } = address;
  try {
    await check(address);
    const text = port === 0 ? `any free port of ${host}` : `${port} of ${host} is free`;
    return good(subject, text);
  } catch (error) {
    const isTaken = error instanceof ListenError && error.isTaken;
    if (!isTaken) return bad(subject, errorText(error));
    const text = `${port} of ${host} is in use: if Solway is not running, stop the other program or choose another port`;
    return warning(subject, text);
  }
}

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

const EXPIRY_NOTICE_MS = 14 * 86_400_000;

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

async function checkCertificate(subject: string, files: TlsFiles): Promise<Finding> {
  let validity = { from: new Date(0), to: new Date(0) };
  const found = await runCheck(subject, () => {
    validity = validityOf(readTls(files));
    return `valid until ${dayOf(validity.to)}`;
  });
  const { from, to } = validity;
  const now = Date.now();
  if (found.verdict === 'bad') return found;
  const renew = 'renew it; the service reloads it when the files change, or on SIGHUP';
  if (to.getTime() <= now) return bad(subject, `expired on ${dayOf(to)}: ${renew}`);
  if (from.getTime() > now)
    return bad(subject, `not valid before ${dayOf(from)}: check the clock of this machine`);
  if (to.getTime() > now + EXPIRY_NOTICE_MS) return found;
  return warning(subject, `expires on ${dayOf(to)}: ${renew}`);
}

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

/** PID of the running process that holds the ledger lock; null if there is none. */
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
  if (!hasLedger(folder)) return `a new ledger will be created, one slot every ${slotMs} ms`;
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  return `${folder}, genesis ${readGenesis(folder, slotMs).hash}, one slot every ${slotMs} ms`;
}

/** Checks access to the embedded ledger without opening it. */
export async function checkLedger(configuration: Configuration): Promise<Finding[]> {
  const subject = 'embedded ledger';
  const folder = ledgerDir(configuration.dataDir);
  const describe = () => describeLedger(folder, configuration.localnet.slotMs);
  const found = await runCheck(subject, describe, ledgerErrorText);
  const holder = ledgerHolder(folder);
  if (found.verdict === 'bad' || holder === null) return [found];
  const text = `process ${holder} uses ${folder}: if Solway is not running, stop that process`;
  return [warning(subject, text)];
}
