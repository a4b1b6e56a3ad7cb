// What is used of optional packages, in all versions that are supported.

declare module '@langchain/core/messages' {
  export function mapChatMessagesToStoredMessages(messages: unknown[]): unknown[];
  export function mapStoredMessagesToChatMessages(messages: unknown[]): unknown[];
}
