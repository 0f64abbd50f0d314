import type { Outcome } from '../outcome.ts';

/** Something to mend, in words for the person who configures the node. Holds no URL and no secret. */
export type ProbeFinding = Readonly<{
  /** An `error` makes the node useless for its network; a `warning` limits it. */
  severity: 'error' | 'warning';
  finding: string;
  remedy: string;
}>;

export const error = (finding: string, remedy: string): ProbeFinding => ({
  severity: 'error',
  finding,
  remedy,
});
export const warning = (finding: string, remedy: string): ProbeFinding => ({
  severity: 'warning',
  finding,
  remedy,
});

const STATUS_REMEDY: Readonly<Record<number, string>> = {
  401: 'Check the key in the URL or in the headers of this node.',
  403: 'Check the key in the URL or in the headers of this node, and whether the provider limits it to certain addresses.',
  404: 'Check the path of the URL.',
  429: 'The provider limits the rate: wait, or ask for a larger plan.',
};

/** Why whoever gave no JSON-RPC answer did not. @param tls - whether it was asked over TLS. */
export function unreachable(outcome: Outcome, tls: boolean): ProbeFinding {
  switch (outcome.kind) {
    case 'status':
      return error(
        `It answers with HTTP status ${outcome.status}.`,
        STATUS_REMEDY[outcome.status] ?? 'Check the URL, and ask whoever runs the node.',
      );
    case 'transport':
      if (outcome.timedOut) {
        return error(
          'It does not answer in time.',
          'Check that it runs and that no firewall stands between.',
        );
      }
      return outcome.wasSent
        ? error(
            'It takes the request and drops the connection.',
            'Check that the port speaks HTTP, and whether it wants https.',
          )
        : error(
            'No connection can be made.',
            tls
              ? 'Check host and port of the URL, that the node runs, and its TLS and certificate: without TLS write http.'
              : 'Check host and port of the URL, and that the node runs.',
          );
    default:
      return error('What it answers is not JSON-RPC.', 'Check that the URL is that of the RPC port.');
  }
}
