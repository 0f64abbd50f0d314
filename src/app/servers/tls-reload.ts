import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Logger } from '../../base/log.ts';
import type { TlsIdentity } from '../../servers/tls.ts';
import { errorText } from '../error-text.ts';
import { readTls, type TlsFiles } from './tls-files.ts';

export type TlsListener = Readonly<{
  /** Name for logs, such as `HTTP listener`. */
  name: string;
  files: TlsFiles;
  reload(identity: TlsIdentity): void;
}>;

type CertificateWatch = Readonly<{
  /** Rereads all certificates, even if their files have not changed. */
  reload(): void;
  close(): void;
}>;

/** A certificate and its key are two files: after one changes, the reload waits this long for the other. */
const SETTLE_MS = 500;

/** Rereads certificates when their files change. If a new certificate is invalid, logs that and keeps the old one. */
export function watchCertificates(
  listeners: readonly TlsListener[],
  log: Logger,
  settleMs = SETTLE_MS,
): CertificateWatch {
  const watched = listeners.map((listener) => watchListener(listener, log, settleMs));
  return {
    reload: () => {
      for (const one of watched) one.reload();
    },
    close: () => {
      for (const one of watched) one.close();
    },
  };
}

/**
 * Rereads certificates when their files change and on SIGHUP. Even without certificates, handles SIGHUP, which would
 * otherwise end the process. @returns a function that stops watching.
 */
export function reloadCertificatesOnChange(listeners: readonly TlsListener[], log: Logger): () => void {
  const certificates = watchCertificates(listeners, log);
  process.on('SIGHUP', certificates.reload);
  return () => {
    process.off('SIGHUP', certificates.reload);
    certificates.close();
  };
}

function watchListener(listener: TlsListener, log: Logger, settleMs: number): CertificateWatch {
  const { name: listenerName, files } = listener;
  const watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  const reload = (): void => {
    try {
      listener.reload(readTls(files));
      log.info({ listener: listenerName }, 'Certificate reloaded');
    } catch (error) {
      const problem = { listener: listenerName, reason: errorText(error) };
      log.error(problem, 'Certificate reload failed; keeping the current certificate');
    }
  };
  const unwatched = 'Certificate files cannot be watched; send SIGHUP after changing them';
  const onFailure = (): void => log.warn({ listener: listenerName }, unwatched);
  // Watches folders: a watch on a file ends when the file is replaced.
  for (const [folder, paths] of foldersOf(files)) {
    const names = new Set(paths.map((path) => basename(path)));
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name !== null && !names.has(name) && !isSwap(name)) return;
        clearTimeout(timer);
        timer = setTimeout(reload, settleMs).unref();
      });
      watcher.on('error', onFailure);
      watchers.push(watcher);
    } catch {
      onFailure();
    }
  }
  return {
    reload,
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Kubernetes updates mounted files by replacing the symbolic link `..data` in their folder. */
const isSwap = (name: string): boolean => name.startsWith('..');

/** Paths of the files and of their link targets, by folder. */
const foldersOf = ({ cert, key }: TlsFiles): ReadonlyMap<string, readonly string[]> =>
  Map.groupBy([cert, key, realpathSync(cert), realpathSync(key)], (path) => dirname(path));
