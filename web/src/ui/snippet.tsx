import { CopyButton } from './copy-button.tsx';

export const Snippet = ({ text, label }: { text: string; label: string }) => (
  <div className="snippet">
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be keyboard accessible */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </section>
    <CopyButton compact text={text} label={`Copy ${label}`} size="s" />
  </div>
);
