package record

import "strings"

// A form is what a dialect knows of requests: what its API documents.
type form struct {
	keys    map[string]bool
	numbers map[string]bool            // the fields whose numbers are no contents, as parent.key
	words   map[string]map[string]bool // the values of role and type
}

// formOf returns the form of a dialect. One that is not in the table knows nothing.
func formOf(dialect string) form {
	row := forms[dialect]
	f := form{keys: set(row.keys), numbers: set(row.numbers), words: map[string]map[string]bool{"role": set(row.roles), "type": set(row.types)}}
	for field := range f.numbers {
		_, key, _ := strings.Cut(field, ".")
		f.keys[key] = true
	}
	for key := range f.words {
		f.keys[key] = true
	}
	return f
}

// set returns the words of a text.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}

// forms has a row for the dialect of each endpoint. The words are those of the references of the APIs. A
// number is known at one place: below a key, or at the top.
var forms = map[string]struct{ keys, numbers, roles, types string }{
	"anthropic": {
		keys: `model messages system content text stream stop_sequences metadata tools tool_choice disable_parallel_tool_use thinking display
			service_tier container mcp_servers context_management edits trigger keep clear_at_least exclude_tools clear_tool_inputs
			instructions pause_after_compaction output_config output_format effort format schema inference_geo speed betas anthropic_version anthropic_beta
			cache_control ttl citations enabled cited_text document_title title context source url media_type data file_id search_result
			id name input tool_use_id is_error signature encrypted_content encrypted_index page_age error_code stdout stderr
			return_code tool_references tool_name description input_schema strict defer_loading eager_input_streaming allowed_callers input_examples
			allowed_domains blocked_domains user_location city region country timezone authorization_token server_name mcp_server_name
			tool_configuration allowed_tools configs default_config caller tool_id retrieved_at skills skill_id version enable_zoom value`,
		numbers: `.max_tokens .temperature .top_p .top_k
			thinking.budget_tokens
			citations.document_index citations.search_result_index citations.start_char_index citations.end_char_index
			citations.start_page_number citations.end_page_number citations.start_block_index citations.end_block_index
			tools.max_uses tools.max_content_tokens tools.display_width_px tools.display_height_px tools.display_number tools.max_characters`,
		roles: `user assistant system`,
		types: `text image document search_result thinking redacted_thinking tool_use tool_result server_tool_use web_search_tool_result web_fetch_tool_result
			code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result
			mcp_tool_use mcp_tool_result container_upload tool_reference compaction web_search_result web_fetch_result code_execution_result
			bash_code_execution_result web_search_tool_result_error web_fetch_tool_result_error code_execution_tool_result_error
			bash_code_execution_output code_execution_output tool_search_tool_search_result tool_search_tool_result_error
			base64 url file content ephemeral enabled disabled adaptive auto any tool none custom json_schema approximate direct
			char_location page_location content_block_location web_search_result_location search_result_location input_tokens tool_uses
			thinking_turns all clear_tool_uses_20250919 clear_thinking_20251015 compact_20260112 mcp_toolset anthropic
			bash_20241022 bash_20250124 text_editor_20241022 text_editor_20250124 text_editor_20250429 text_editor_20250728 computer_20241022
			computer_20250124 computer_20251124 web_search_20250305 web_search_20260209 web_fetch_20250910 web_fetch_20260209
			code_execution_20250522 code_execution_20250825 code_execution_20260120 memory_20250818 tool_search_tool_regex_20251119
			tool_search_tool_bm25_20251119`,
	},
	"openai-chat": {
		keys: `model messages content text name refusal audio id tool_calls function arguments tool_call_id function_call functions custom input
			reasoning_content reasoning reasoning_details thinking signature data format summary annotations url_citation title url image_url detail
			input_audio file file_data file_id filename video_url cache_control ttl prefix partial
			tools description parameters strict grammar definition syntax tool_choice allowed_tools mode parallel_tool_calls stream stream_options
			include_usage include_obfuscation stop modalities voice prediction response_format json_schema schema metadata store user safety_identifier
			prompt_cache_key prompt_cache_retention service_tier reasoning_effort effort exclude verbosity logprobs logit_bias web_search_options
			search_context_size user_location approximate city country region timezone extra_body extra_content google thought_signature
			enable_thinking include_reasoning models route provider transforms plugins usage include guided_json guided_regex guided_choice
			chat_template_kwargs add_generation_prompt continue_final_message cache_prompt safe_prompt prompt_mode citation_options`,
		numbers: `.max_tokens .max_completion_tokens .temperature .top_p .top_k .min_p .n .seed .presence_penalty
			.frequency_penalty .repetition_penalty .top_logprobs .thinking_budget .random_seed .num_ctx
			tool_calls.index url_citation.start_index url_citation.end_index`,
		roles: `system developer user assistant tool function model`,
		types: `text image_url input_audio file video_url refusal function custom json_object json_schema grammar content auto none any required
			allowed_tools approximate url_citation ephemeral thinking reference enabled disabled reasoning.text reasoning.summary reasoning.encrypted`,
	},
	"openai-responses": {
		keys: `model input instructions content text role id call_id name namespace arguments output status summary encrypted_content reasoning effort
			generate_summary tools description parameters strict defer_loading tool_choice mode parallel_tool_calls previous_response_id conversation
			prompt variables version include store stream stream_options include_obfuscation background metadata service_tier truncation user
			safety_identifier prompt_cache_key prompt_cache_retention verbosity format schema context_management phase annotations
			logprobs token bytes detail image_url file_id file_url file_data filename input_audio data refusal url title
			action actions query queries sources pattern results attributes code container container_id outputs logs result commands command env
			working_directory stdout stderr outcome operation path diff server_label server_url server_description connector_id authorization
			headers allowed_tools require_approval always never tool_names read_only approval_request_id approve reason request_id error execution
			environment acknowledged_safety_checks pending_safety_checks message button keys drag
			vector_store_ids filters key value ranking_options ranker hybrid_search user_location city country region timezone search_context_size
			allowed_domains memory_limit file_ids network_policy background_color input_fidelity input_image_mask moderation output_format quality size
			grammar definition syntax custom caller caller_id created_by fingerprint client_metadata callId`,
		numbers: `.max_output_tokens .max_tool_calls .temperature .top_p .top_logprobs
			annotations.start_index annotations.end_index annotations.index
			context_management.compact_threshold tools.max_num_results tools.display_width tools.display_height tools.output_compression tools.partial_images
			action.timeout_ms action.max_output_length`,
		roles: `system developer user assistant critic discriminator tool unknown`,
		types: `message input_text output_text input_image input_file input_audio refusal summary_text reasoning_text text reasoning item_reference
			function_call function_call_output custom_tool_call custom_tool_call_output computer_call computer_call_output computer_screenshot
			local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output tool_search_call
			tool_search_output program program_output web_search_call file_search_call code_interpreter_call image_generation_call mcp_call
			mcp_list_tools mcp_approval_request mcp_approval_response compaction compaction_summary function_call_result computer_call_result
			hosted_tool_call function custom mcp web_search web_search_2025_08_26 web_search_preview web_search_preview_2025_03_11 file_search
			computer computer_use_preview code_interpreter image_generation local_shell shell apply_patch tool_search namespace auto
			allowed_tools grammar json_schema json_object file_citation url_citation container_file_citation file_path approximate
			exec search open_page find_in_page create_file update_file delete_file exit timeout logs image`,
	},
	"gemini": {
		keys: `contents parts text thought thoughtSignature thought_signature functionCall function_call functionResponse function_response id name args
			response inlineData inline_data fileData file_data mimeType mime_type data fileUri file_uri displayName videoMetadata video_metadata
			startOffset endOffset mediaResolution executableCode executable_code codeExecutionResult code_execution_result language code outcome
			output toolCall toolResponse toolType willContinue will_continue scheduling partialArgs partial_args jsonPath stringValue numberValue boolValue
			nullValue systemInstruction system_instruction tools functionDeclarations function_declarations description parameters
			parametersJsonSchema parameters_json_schema responseJsonSchema response_json_schema behavior googleSearch google_search
			googleSearchRetrieval google_search_retrieval dynamicRetrievalConfig codeExecution code_execution urlContext url_context
			googleMaps enableWidget fileSearch fileSearchStoreNames metadataFilter computerUse environment excludedPredefinedFunctions
			toolConfig tool_config functionCallingConfig function_calling_config mode allowedFunctionNames allowed_function_names
			streamFunctionCallArguments retrievalConfig latLng languageCode safetySettings safety_settings category threshold method
			generationConfig generation_config stopSequences stop_sequences responseMimeType response_mime_type responseSchema response_schema
			responseModalities responseLogprobs enableEnhancedCivicAnswers speechConfig voiceConfig prebuiltVoiceConfig voiceName
			multiSpeakerVoiceConfig speakerVoiceConfigs speaker thinkingConfig thinking_config includeThoughts include_thoughts thinkingLevel
			thinking_level imageConfig aspectRatio imageSize cachedContent cached_content labels model generateContentRequest modelArmorConfig
			routingConfig audioTimestamp partMetadata store serviceTier`,
		numbers: `generationConfig.temperature generationConfig.topP generationConfig.topK generationConfig.candidateCount generationConfig.maxOutputTokens generationConfig.seed
			generationConfig.presencePenalty generationConfig.frequencyPenalty generationConfig.logprobs
			generation_config.temperature generation_config.top_p generation_config.top_k generation_config.candidate_count generation_config.max_output_tokens generation_config.seed
			generation_config.presence_penalty generation_config.frequency_penalty generation_config.logprobs
			thinkingConfig.thinkingBudget thinking_config.thinking_budget dynamicRetrievalConfig.dynamicThreshold videoMetadata.fps`,
		roles: `user model function system`,
		types: `MODE_DYNAMIC MODE_UNSPECIFIED`,
	},
	"bedrock": {
		keys: `messages content text image document video audio format source bytes s3Location uri bucketOwner name context citations enabled
			toolUse toolUseId input toolResult status json searchResult title domain reasoningContent reasoningText signature redactedContent
			cachePoint ttl guardContent qualifiers citationsContent sourceContent location web documentChar documentPage documentChunk
			searchResultLocation url system inferenceConfig stopSequences toolConfig tools toolSpec description inputSchema strict systemTool
			toolChoice auto any tool guardrailConfig guardrailIdentifier guardrailVersion trace streamProcessingMode additionalModelRequestFields
			additionalModelResponseFieldPaths promptVariables requestMetadata performanceConfig latency serviceTier outputConfig textFormat
			structure jsonSchema schema modelId`,
		numbers: `inferenceConfig.maxTokens inferenceConfig.temperature inferenceConfig.topP
			documentChar.documentIndex documentChar.start documentChar.end
			documentPage.documentIndex documentPage.start documentPage.end
			documentChunk.documentIndex documentChunk.start documentChunk.end
			searchResultLocation.searchResultIndex searchResultLocation.start searchResultLocation.end`,
		roles: `user assistant system`,
		types: `default server_tool_use tool_use json_schema reserved priority flex`,
	},
}
