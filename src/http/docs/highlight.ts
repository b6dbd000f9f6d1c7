/** Syntax highlighting of the samples: comments, strings and keywords. */

const keywords: Readonly<Record<string, string>> = {
  sh: "curl|export",
  ts: "async|await|const|do|for|function|if|let|new|null|of|return|string|throw|while|void",
  python: "and|def|for|if|import|in|is|None|not|return|True|while|f",
  go: "defer|error|for|func|if|nil|package|import|range|return|string|var",
  http: "Authorization",
};

const COMMENT = String.raw`\/\*\*.*?\*\/|(?<=^|\s)\/\/[^\n]*|(?<=^|\s)#[^\n]*|"""[\s\S]*?"""`;
const STRING = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\x60[^\x60]*\x60`;

export function highlight(source: string, language: string): string {
  const words = keywords[language];
  if (words === undefined) return Bun.escapeHTML(source);
  const tokens = new RegExp(`(?<comment>${COMMENT})|(?<string>${STRING})|\\b(?<keyword>${words})\\b(?!["'])`, "g");
  let html = "";
  let end = 0;
  for (const { 0: token, index, groups = {} } of source.matchAll(tokens)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    html += `${Bun.escapeHTML(source.slice(end, index))}<span class="${kind}">${Bun.escapeHTML(token)}</span>`;
    end = index + token.length;
  }
  return html + Bun.escapeHTML(source.slice(end));
}
