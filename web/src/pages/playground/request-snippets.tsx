import { requestSnippets } from '../../request-snippets.ts';
import { useSession } from '../../shell/session.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { ValidRequest } from './request.ts';

/** The request as code. The page does not know the secret of the key. */
export function RequestSnippets({ request }: { request: ValidRequest }) {
  const { service } = useSession();
  return (
    <Tabs
      label="Code samples"
      tabs={requestSnippets(service.urls, '<API_KEY>', request).map(({ id, label, text }) => ({
        id,
        label,
        panel: () => <Snippet text={text} label={`${label} sample`} />,
      }))}
    />
  );
}
