package rules_test

import (
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

// TestRefusesReasoning: errors about reasoning are known however they are wrapped, and no others.
func TestRefusesReasoning(t *testing.T) {
	for _, text := range []string{
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.19.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`,
		`{"error":{"code":"400","type":"invalid_params","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`,
		`{"message":"ValidationException: ***.***.content.0: Invalid ` + "`signature` in `thinking`" + ` block (request id: 20260225141044173361254)"}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block. The block is bound to a different conversation. Remove the block, or set ` + "`thinking.block_binding.prefix_mismatch_behavior`" + ` to \"drop_block\"."}}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.49.content.1: ` + "`thinking` or `redacted_thinking`" + ` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."},"request_id":"req_1"}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.type: Expected ` + "`thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant`" + ` message must start with a thinking block (preceeding the lastmost set of ` + "`tool_use` and `tool_result`" + ` blocks)."}}`,
		`{"error":{"message":"The encrypted content gAAA...c90= could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`,
		`{"error":{"message":"The encrypted content for item cmp_34a9b7bd could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error"}}`,
		`{"error":{"message":"litellm.BadRequestError: OpenAIException - {\n  \"error\": {\n    \"message\": \"The encrypted content gAAA...OA== could not be verified.\",\n    \"code\": \"invalid_encrypted_content\"\n  }\n}. Received Model Group=x","code":"400"}}`,
		`{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item.","type":"invalid_request_error","param":"input"}}`,
		`{"error":{"message":"Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.","type":"invalid_request_error","param":"input"}}`,
		`{"error":{"message":"Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.","type":"invalid_request_error","param":"input"}}`,
		`{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call ` + "`default_api:Bash`" + ` , position 64.","status":"INVALID_ARGUMENT"}}`,
		`{"error":{"message":"The ` + "`reasoning_content`" + ` in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content gAAA... could not be verified. Reason: Encrypted content organization_id did not match the target organization.","code":"invalid_encrypted_content"}}`,
		`{"error":{"message":"Upstream request failed: [invalid_request_error] reasoning ` + "`encrypted_content`" + ` was not issued to this caller","type":"invalid_request_error"}}`,
		`{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}`,
		`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"Corrupted thought signature.\",\n    \"status\": \"INVALID_ARGUMENT\"\n  }\n}\n","provider_name":"Google AI Studio"}}}`,
		`[{"error":{"code":400,"message":"Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini","status":"INVALID_ARGUMENT"}}]`,
		`{"error":{"code":400,"message":"Invalid thought signature.","status":"INVALID_ARGUMENT"}}`,
		`{"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when ` + "`store`" + ` is set to false. Try again with ` + "`store`" + ` set to true, or remove this item from your input.","type":"invalid_request_error","param":"input"}}`,
		`{"error":{"message":"The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`,
		`{"error":{"message":"The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`,
		`{"error":{"message":"The encrypted content gAAAAABp-xyz_12 could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`,
		`{"error":{"message":"The encrypted content gAAA could not be verified.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content gAAA could not be verified. Reason: whatever you like.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content for item rs_0abc could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content gAAA could not be verified. Reason: Encrypted content organization_id did not match the target organization.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content gAAAAABp-xyz_12 could not be verified. Reason: Encrypted content could not be decrypted.","type":"invalid_request_error"}}`,
		`{"error":{"message":"The encrypted content gAAA could not be verified. Encrypted content organization_id did not match the target organization.","type":"invalid_request_error"}}`,
		`{"error":{"message":"Encrypted content could not be decrypted or parsed.","type":"invalid_request_error"}}`,
		`{"detail": "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed."}`,
		`{"error":{"message":"Bad Request","code":"invalid_encrypted_content"}}`,
	} {
		if !rules.RefusesReasoning(text) {
			t.Errorf("not known: %s", text)
		}
	}
	for _, text := range []string{
		``, `{}`, `{"error":{"message":"Bad Request"}}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.2: ` + "`tool_use` ids were found without `tool_result`" + ` blocks immediately after: toolu_1."}}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"` + "`clear_thinking_20251015` strategy requires `thinking`" + ` to be enabled or adaptive"}}`,
		`{"type":"error","error":{"type":"invalid_request_error","message":"` + "`max_tokens` must be greater than `thinking.budget_tokens`" + `"}}`,
		`{"error":{"message":"No tool output found for function call call_1.","type":"invalid_request_error","param":"input"}}`,
		`{"error":{"message":"Invalid value: 'thinking'. Supported values are: 'text', 'image_url'.","type":"invalid_request_error"}}`,
		`{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","type":"invalid_request_error"}}`,
		`{"error":{"message":"Your account could not be verified. Please verify your organization.","type":"invalid_request_error"}}`,
		`{"error":{"message":"Invalid assistant message at message index 2","type":"invalid_request_error"}}`,
	} {
		if rules.RefusesReasoning(text) {
			t.Errorf("taken for an error about reasoning: %s", text)
		}
	}
}
