import { useEffect, useRef, useState } from 'react';
import { Button, type ButtonProps, IconButton } from './button.tsx';
import { useToast } from './toast.tsx';

const FEEDBACK_MS = 2_000;

export function CopyButton({
  text,
  label,
  compact = false,
  ...rest
}: { text: string | (() => string); label: string; compact?: boolean } & Omit<ButtonProps, 'children'>) {
  const toast = useToast();
  const [isDone, setIsDone] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);

  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setIsDone(true);
      toast('Copied.');
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => setIsDone(false), FEEDBACK_MS);
    } catch {
      toast('Copying was blocked by the browser. Select the text and copy it manually.', 'bad');
    }
  };

  const icon = isDone ? 'check' : 'copy';
  if (compact) return <IconButton {...rest} icon={icon} label={label} onClick={copy} />;
  return (
    <Button {...rest} icon={icon} onClick={copy}>
      {label}
    </Button>
  );
}
