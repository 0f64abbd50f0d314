import {
  type Configuration,
  type SenderConfiguration,
  type UpstreamConfiguration,
  websocketUrlOf,
} from '../../config/configuration.ts';
import { hasSubscriptionFeed } from '../../upstream/node.ts';
import { probeSender } from '../../upstream/probe/probe-node.ts';
import { probePubsub } from '../../upstream/probe/probe-pubsub.ts';
import { probeGeyser, probeShreds } from '../../upstream/probe/probe-streams.ts';
import { bad, type Finding, good, probeFindings, warning } from './check.ts';

async function checkSender(
  { network, ...endpoint }: SenderConfiguration,
  timeoutMs: number,
): Promise<Finding[]> {
  const subject = `sender ${endpoint.name} (${network})`;
  const { latencyMs, findings } = await probeSender(endpoint, network, timeoutMs);
  if (latencyMs !== null) return [good(subject, `responds, ${Math.round(latencyMs)} ms`)];
  return probeFindings(subject, findings);
}

export async function checkSenders(
  { senders }: Pick<Configuration, 'senders'>,
  timeoutMs: number,
): Promise<Finding[]> {
  const found = await Promise.all(senders.map((sender) => checkSender(sender, timeoutMs)));
  return found.flat();
}

/** Checks PubSub. A failure is only a warning if the PubSub address was derived from the URL. */
export async function checkPubsub(node: UpstreamConfiguration, timeoutMs: number): Promise<Finding[]> {
  if (node.ws === null) return [];
  const subject = `PubSub of ${node.name} (${node.network})`;
  const { fault, slot } = await probePubsub(node, timeoutMs);
  if (fault === null) {
    return [good(subject, slot === null ? 'responds' : `responds, slot ${slot}`)];
  }
  const derived = node.ws === websocketUrlOf(node.url);
  const remedy = derived
    ? 'The address was derived from url: set ws to the correct one, or ws = "off" if the node has no PubSub.'
    : 'Check ws, or set ws = "off" if the node has no PubSub.';
  const text = `it delivers no notifications (${fault}). ${remedy}`;
  return [(derived ? warning : bad)(subject, text)];
}

export async function checkGeyser(
  { grpc, ...node }: UpstreamConfiguration,
  timeoutMs: number,
): Promise<Finding[]> {
  if (typeof grpc !== 'string') return [];
  const subject = `Geyser of ${node.name} (${node.network})`;
  const { fault, slot } = await probeGeyser({ ...node, grpc }, timeoutMs);
  if (fault === null) return [good(subject, `responds, slot ${slot}`)];
  const text = `it delivers no updates (${fault}). Check grpc and headers, or remove grpc.`;
  return [bad(subject, text)];
}

export async function checkShreds(
  { grpc, shreds }: Configuration,
  hasSource: boolean,
  timeoutMs: number,
): Promise<Finding[]> {
  if (!grpc.enabled) return [];
  if (!hasSource) {
    const text =
      'no source is configured, so svc_fs_live_ keys are rejected: add one to [shreds] to use shred streams';
    return [warning('shred stage', text)];
  }
  const kinds = ['entries', 'deshred'] as const;
  const checks = kinds.flatMap((kind) =>
    shreds[kind].map(async (server): Promise<Finding> => {
      const subject = `shred stage of ${server.name}`;
      const fault = await probeShreds(server, kind, timeoutMs);
      if (fault === null) return good(subject, 'accepts the stream');
      const text = `it delivers no shreds (${fault}). Check its url, or remove it from shreds.${kind}.`;
      return bad(subject, text);
    }),
  );
  return Promise.all(checks);
}

/** Reports a default network that has no usable feed. @param feedFindings - results of all feed checks. */
export function checkAnyFeed(
  { upstreams, networks }: Configuration,
  feedFindings: readonly Finding[],
): Finding[] {
  const nodes = upstreams.filter(({ network }) => network === networks.default);
  if (nodes.length === 0) return [];
  const subject = `subscriptions of ${networks.default}`;
  if (!nodes.some(hasSubscriptionFeed)) {
    const text = 'no node has PubSub or Geyser, so subscriptions are rejected: set ws or grpc of a node';
    return [warning(subject, text)];
  }
  const networkFindings = feedFindings.filter(({ subject }) => subject.endsWith(`(${networks.default})`));
  if (networkFindings.length === 0 || networkFindings.some(({ verdict }) => verdict === 'good')) return [];
  return [bad(subject, 'no feed works, so subscriptions are rejected: fix a feed reported above')];
}
