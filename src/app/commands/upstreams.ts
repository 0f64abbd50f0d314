import { type Environment, resolveReference } from '../../config/sources.ts';
import { type ApiClient, bodyOf, remoteApi } from '../../control/api/client.ts';
import type { RouteInput } from '../../control/api/contract/contract.ts';
import { checkStoreExists } from '../store.ts';
import { offlineNodeFacts } from '../upstreams/added-nodes.ts';
import { type OfflineOptions, withOfflineApi } from './offline-api.ts';

export type NodeInput = Readonly<{
  network: string;
  name: string;
  url: string;
  ws?: string | undefined;
  grpc?: string | undefined;
  headers: Readonly<Record<string, string>>;
  options: NodeOptions;
}>;

/** Node options by their names in the configuration file; null: the default. */
export type NodeOptions = Readonly<Record<string, number | boolean | string | readonly string[] | null>>;

export type NodeChange = Readonly<{
  url: string | undefined;
  ws: string | undefined;
  /** null removes the Geyser URL. */
  grpc: string | null | undefined;
  headers: NodeInput['headers'] | undefined;
  options: NodeOptions | undefined;
}>;

export type UpstreamCommands = ReturnType<typeof commandsOf>;

/** Returns `network` if it is given, or else the network of the node with this name, which is unique. */
async function networkOf(api: ApiClient, name: string, network: string | undefined): Promise<string> {
  if (network !== undefined) return network;
  const { nodes, added } = await api.call('GET /upstreams', {});
  const found = [...nodes, ...added].find((node) => node.name === name);
  // If the node does not exist, the next request reports that.
  return found?.network ?? 'mainnet-beta';
}

/** Current options. The API replaces all options at once, so a change must include the unchanged options too. */
async function currentOptions(api: ApiClient, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { added } = await api.call('GET /upstreams', {});
  // If the node does not exist or its options cannot be decrypted, the next request reports that.
  return added.find((node) => node.name === name)?.options ?? {};
}

type AddBody = RouteInput<'POST /upstreams'>['body'];
type ChangeBody = RouteInput<'PATCH /upstreams/{node}'>['body'];

function commandsOf(api: ApiClient, environment: Environment) {
  const resolveText = <Text extends string | null | undefined>(text: Text) =>
    typeof text === 'string' ? resolveReference(text, environment, process.cwd()) : text;
  const headersOf = (headers: NodeInput['headers']) =>
    Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, resolveText(text)]));
  const resolvedBody = <Body>({ url, ws, grpc, headers, ...rest }: NodeInput | NodeChange): Body =>
    bodyOf<Body>({
      ...rest,
      ...{ url: resolveText(url), ws: resolveText(ws), grpc: resolveText(grpc) },
      headers: headers && headersOf(headers),
    });
  return {
    list: async () => api.call('GET /upstreams', {}),
    add: async (node: NodeInput, force: boolean) =>
      api.call('POST /upstreams', { body: { ...resolvedBody<AddBody>(node), force } }),
    change: async (node: string, change: NodeChange, force: boolean) => {
      const body = resolvedBody<ChangeBody>(change);
      const options = change.options && { ...(await currentOptions(api, node)), ...change.options };
      return api.call('PATCH /upstreams/{node}', {
        path: { node },
        body: { ...body, ...(options && { options }), force },
      });
    },
    cordon: async (node: string, network: string | undefined, reason: string) => {
      const body = { network: await networkOf(api, node, network), reason };
      await api.call('POST /upstreams/{node}/cordon', { path: { node }, body });
    },
    uncordon: async (node: string, network: string | undefined) => {
      const body = { network: await networkOf(api, node, network) };
      await api.call('POST /upstreams/{node}/uncordon', { path: { node }, body });
    },
    drain: async (node: string, network: string | undefined, reason: string, force: boolean) => {
      const body = { network: await networkOf(api, node, network), reason, force };
      await api.call('POST /upstreams/{node}/drain', { path: { node }, body });
    },
    remove: async (node: string, force: boolean) => {
      const query = force ? { force: 'true' as const } : {};
      await api.call('DELETE /upstreams/{node}', { path: { node }, query });
    },
  };
}

/** @throws the same errors as `withOfflineApi` */
export async function withUpstreamCommands<Result>(
  options: OfflineOptions,
  work: (commands: UpstreamCommands) => Promise<Result>,
): Promise<Result> {
  const { configuration, environment } = options;
  checkStoreExists(configuration);
  return withOfflineApi(
    options,
    (api) => work(commandsOf(api, environment)),
    (_, peppers) => ({ nodes: offlineNodeFacts(configuration, peppers) }),
  );
}

export const remoteUpstreamCommands = (
  url: string,
  token: string,
  environment: Environment,
): UpstreamCommands => commandsOf(remoteApi({ url, token }), environment);
